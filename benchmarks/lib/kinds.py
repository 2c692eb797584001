"""The kinds of the sets of cases. What is said of new kinds is measured with all sets of a kind left out."""

__all__ = ["LINES", "kind_of"]

LINES = "_lines"
"""The end of the name of a set with one line, such as a turn of a conversation, in each passage."""
_KINDS = {
    "conversations": "meeting scenes npcs saga minutes talks",
    "finance": "finance",
    "logs": "logs",
    "manuals": "faq mdpage faqs efaq faq_ml help help_ml doc_manual fmt_html",
    "lookup": "options bookindex config",
    "code": "code fixes polyglot code_c code_go_rust code_java_cs code_php_ruby code_ts",
    "encyclopedia": "nq page xquad_en xquad_es xquad_zh xquad_ar",
    "multi-hop": "hotpot musique",
    "tables": "table fmt_csv",
    "data": "kv awscli api fmt_conf fmt_json fmt_yaml",
    "changes": "changes rules doc_changes",
    "fiction": "fiction",
    "contracts": "doc_contract",
    "mail": "doc_mail",
    "extracted pages": "doc_pdf",
}
_OF_SET = {name: kind for kind, names in _KINDS.items() for name in names.split()}


def kind_of(name: str) -> str:
    """Return the kind of a set. A set that is not known is a kind of its own."""
    name = name.removesuffix(LINES)
    return _OF_SET.get(name, name)
