"""Duplicates: the same text, nearly the same words, the same meaning; and texts that only look like duplicates."""

import re
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from meanings import Encoding
from reduce_inputs import HARMLESS, assert_whole, dropped, ids, note

from ctxcompress import Passage, compress
from ctxcompress.reduce.duplicates import Particulars, near_duplicates

COMMON = (
    "To set up the login of the server open the settings page and choose the provider that your company uses for all "
    "of its accounts and then save the page and sign in again with the new account "
)
SAME = [1.0, 0.0]


def counting(*what):
    """An encoder by what is counted in a text."""
    return Encoding(lambda text: [text.count(word) for word in what])


def run(texts, scores=None, embeddings=None, **options):
    given = [
        Passage(f"p{n}", text, score=scores and scores[n], embedding=embeddings and embeddings[n])
        for n, text in enumerate(texts)
    ]
    return compress("q", given, **options)


def near_leaders(texts, threshold):
    return near_duplicates(texts, threshold, Particulars(texts))


def near(*texts, threshold=0.7, **options):
    return ids(run(texts, ngram_threshold=threshold, **options))


def alike(*texts, **options):
    return ids(run(texts, embeddings=[SAME] * len(texts), similarity_threshold=0.85, **options))


# Exact


def test_white_space_makes_no_difference():
    result = run(
        ["One  text\nof a page.", "One text of a page.", "\tOne text of\r\n\r\na page. \n"], ngram_threshold=1.0
    )
    assert len(result.passages) == 1
    assert sorted(dropped(result).values()) == ["duplicate"] * 2
    assert ids(run(["yes", "no", "yes"], ngram_threshold=1.0)) == ["p0", "p1", "p2"]  # very short texts are no copies


def test_what_fits_is_left_alone_unless_it_is_asked_for():
    same = "One text of a page."
    assert ids(run([same, same])) == ["p0", "p1"]
    assert note(run([same, same]), "exact") == "off"
    assert ids(run([same, same], ngram_threshold=1.0)) == ["p0"]
    assert ids(run([same, same], ngram_threshold=0.7)) == ["p0"]


# The member that is kept


@pytest.mark.parametrize(("kind", "best"), [("similarity", "p1"), ("distance", "p2"), ("rank", "p2")])
@pytest.mark.parametrize("stage", ["exact", "near", "semantic"])
def test_the_best_scored_member_is_kept_and_lists_the_others(kind, best, stage):
    texts = {
        "exact": [COMMON, COMMON + "\n", " " + COMMON],
        "near": [COMMON + word for word in HARMLESS[:3]],
        "semantic": ["One gate stands here.", "There is a gate.", "A gate can be seen."],
    }[stage]
    options = {"ngram_threshold": 0.7 if stage != "semantic" else None}
    if stage == "semantic":
        options |= {"embeddings": [SAME] * 3, "similarity_threshold": 0.85}
    result = run(texts, scores=[2.0, 3.0, 1.0], score_kind=kind, **options)
    (only,) = result.passages
    assert only.id == best
    assert only.stands_for == tuple(sorted({0, 1, 2} - {only.index}))
    assert {decision.duplicate_of for decision in result.dropped if decision.reason == "duplicate"} == {only.index}


def test_an_unknown_score_is_worse_than_a_low_one():
    assert ids(run([COMMON, COMMON], scores=[None, -5.0], ngram_threshold=1.0)) == ["p1"]
    assert ids(run([COMMON, COMMON], scores=[True, -5.0], ngram_threshold=1.0)) == ["p1"]


# Near


def jaccard(one, other):
    """By the book, of runs of three words."""
    sets = []
    for text in (one, other):
        words = re.findall(r"\w+", text.lower())
        sets.append({tuple(words[n : n + 3]) for n in range(len(words) - 2)})
    union = sets[0] | sets[1]
    return len(sets[0] & sets[1]) / len(union) if union else 0.0


plain = st.lists(st.sampled_from("gate wall tower roof".split()), max_size=14).map(" ".join)


@given(texts=st.lists(plain, min_size=2, max_size=9), threshold=st.sampled_from([0.3, 0.5, 0.7]))
def test_clusters_are_those_of_going_from_the_best_to_the_worst(texts, threshold):
    leaders = []
    expected = {}
    for number, text in enumerate(texts):
        leader = next((other for other in leaders if jaccard(text, texts[other]) >= threshold), None)
        if leader is None:
            leaders.append(number)
        else:
            expected[number] = leader
    assert near_leaders(texts, threshold) == expected


UNSPACED = {
    "Chinese": (
        "打开设置页面选择公司使用的提供商然后保存页面并重新登录账户",
        "打开设置页面选择公司使用的提供商然后保存页面并重新登录帐户",
        "服务器启动时读取所有设置并等待客户端的连接请求到达端口",
    ),
    "Thai": (
        "เปิดหน้าการตั้งค่าแล้วเลือกผู้ให้บริการที่บริษัทของคุณใช้จากนั้นบันทึกหน้า",
        "เปิดหน้าการตั้งค่าแล้วเลือกผู้ให้บริการที่บริษัทของคุณใช้จากนั้นบันทึกหน้านี้",
        "เซิร์ฟเวอร์อ่านค่าทั้งหมดเมื่อเริ่มทำงานและรอการเชื่อมต่อจากเครื่องลูกข่าย",
    ),
}


@pytest.mark.parametrize(("one", "other", "different"), UNSPACED.values(), ids=UNSPACED)
def test_in_scripts_without_spaces_characters_are_compared(one, other, different):
    assert len(near(one, other, different)) == 2
    assert len(near(one, different)) == 2


# What may not differ

DIFFERENCES = {
    "version": ("upgrade to v1.2 first", "upgrade to v1.3 first"),
    "negation": ("you must restart it", "you must not restart it"),
    "contraction": ("it does restart", "it doesn't restart"),
    "typographic contraction": ("it can restart", "it can’t restart"),
    "without": ("start it with care", "start it without care"),
    "port": ("listen on port 80 there", "listen on port 8080 there"),
    "comparison": ("if a < b then", "if a > b then"),
    "arithmetic": ("take a + b there", "take a * b there"),
    "identifier": ("set max_size there", "set min_size there"),
    "code span": ("say `start` there", "say `stop` there"),
    "path": ("open /etc/hosts there", "open /etc/passwd there"),
    "name": ("the one in Paris is meant", "the one in London is meant"),
    "order of numbers": ("from 1 to 2 there", "from 2 to 1 there"),
    "German": ("das Gerät ist ein Teil", "das Gerät ist kein Teil"),
    "French": ("il faut le faire", "il ne faut pas le faire"),
    "Italian": ("si deve fare", "non si deve fare"),
    "Portuguese": ("isto deve ser feito", "isto não deve ser feito"),
    "Swedish": ("det ska göras", "det ska inte göras"),
    "Vietnamese": ("phải khởi động lại", "không phải khởi động lại"),
    "Czech": ("je to dobré", "není to dobré"),
    "Spanish": ("con el servidor", "sin el servidor"),
    "Dutch": ("het moet nu", "het moet niet nu"),
    "Russian": ("сервер нужно перезапускать", "сервер не нужно перезапускать"),
    "Turkish": ("bu bir hata", "bu bir hata değil"),
    "Arabic": ("يجب إعادة التشغيل", "لا يجب إعادة التشغيل"),
    "Hebrew": ("השרת פועל", "השרת לא פועל"),
    "Hindi": ("सर्वर चालू है", "सर्वर चालू नहीं है"),
    "Chinese": ("必须重启", "不必重启"),
    "Japanese": ("再起動します", "再起動しません"),
    "exclamation mark in code": ("if !ready then", "if ready then"),
    "unit": ("wait 5 ms there", "wait 5 s there"),
    "number word": ("wait two minutes", "wait ten minutes"),
    "Chinese number": ("等待三分钟", "等待五分钟"),
    "prefix": ("a non-empty list", "a empty list"),
    "before and after": ("restart it before that", "restart it after that"),
    "must": ("you must stop", "you can stop"),
    "unable": ("you are able to", "you are unable to"),
    "contraction without its apostrophe": ("it is there", "it isnt there"),
    "Korean": ("재시작해야 합니다", "재시작하지 않아야 합니다"),
    "Persian": ("باید راه اندازی شود", "نباید راه اندازی شود"),
    "Greek": ("είναι καλό", "δεν είναι καλό"),
    "Arabic digits": ("port ٨٠ there", "port ٥٠ there"),
    "a not elsewhere": ("it must not start and must stop", "it must start and must not stop"),
    "Thai": ("ต้องรีสตาร์ท", "ไม่ต้องรีสตาร์ท"),
}


@pytest.mark.parametrize("what", DIFFERENCES)
def test_texts_that_differ_in_what_matters_both_stay(what):
    for one, other in (DIFFERENCES[what], DIFFERENCES[what][::-1]):
        assert near(f"{COMMON} {one} {COMMON}", f"{COMMON} {other} {COMMON}", threshold=0.5) == ["p0", "p1"]
        assert what == "order of numbers" or alike(f"Now {one}.", f"Now {other}.") == ["p0", "p1"]


def test_the_comparison_is_with_harmless_words_not_a_rule_that_nothing_is_a_copy():
    for one, other in combinations(HARMLESS, 2):
        assert len(near(f"{COMMON} {one} {COMMON}", f"{COMMON} {other} {COMMON}", threshold=0.5)) == 1
        assert len(alike(f"Now do it {one}.", f"Now do it {other}.")) == 1


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        ("You can enable OAuth by editing config.toml.", "To turn on OAuth, edit config.toml.", 1),
        ("the check is enabled by an option", "an option activates the check", 1),
        ("you can enable the check", "you can turn off the check", 2),
        ("it enables the check", "it disables the check", 2),
        ("it allows the guests", "it blocks the guests", 2),
        ("allow guests to come in", "prevent guests from coming in", 2),
        ("guests are allowed to smoke", "guests are prohibited to smoke", 2),
        ("this allows access to the files", "this revokes access to the files", 2),
    ],
)
def test_a_paraphrase_is_a_duplicate_unless_it_says_the_opposite(one, other, left):
    assert len(alike(one, other)) == len(alike(other, one)) == left


# All of it in the leader

FACT = "The server waits 30 s for an answer. It does not ask again."


@pytest.mark.parametrize(
    "rest", ["See below.", "Read the guide.", "Start here.", "The port is 8080.", "Do not wait for Paris.", "Use `x`."]
)
@pytest.mark.parametrize("form", ["{0} {1}", "{1} {0}", "{1}\n\n{0}", "{0}\n\n{1}", "{1} {0} {1}"])
def test_a_copy_of_a_part_is_a_duplicate_whatever_the_rest_says(form, rest):
    whole = form.format(FACT, rest)
    assert alike(whole, FACT) == ["p0"]
    assert alike(FACT.replace(" ", "\n", 3), whole) == ["p1"]
    assert near(f"{COMMON}. {FACT} {rest}", f"{COMMON}. {FACT}", threshold=0.5) == ["p0"]


# A chain


def chain(length, shift=4, width=40):
    return [" ".join(f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(k * shift, k * shift + width))
            for k in range(length)]  # fmt: skip


def test_a_chain_of_near_copies_does_not_become_one():
    texts = chain(8, shift=3)
    for one, other in pairwise(texts):
        assert jaccard(one, other) >= 0.7
    assert jaccard(texts[0], texts[-1]) < 0.4
    result = run(texts, ngram_threshold=0.7)
    assert 1 < len(result.passages) < len(texts)
    for decision in result.dropped:
        leader = decision.duplicate_of
        assert leader is None or jaccard(decision.passage.text, texts[leader]) >= 0.7


# Semantic


def test_an_encoder_gives_what_passages_do_not_carry():
    encoder = counting("gate", "wall")
    texts = ["One gate here.", "A gate there.", "The wall."]
    assert len(ids(run(texts, similarity_threshold=0.85, encoder=encoder))) == 2
    assert sorted(encoder.asked[0]) == sorted(texts)
    assert len(encoder.asked) == 1


@pytest.mark.parametrize(
    "vectors",
    [
        [SAME, None],
        [SAME, [1.0, 0.0, 0.0]],
        [SAME, [float("nan"), 1.0]],
        [SAME, [float("inf"), 1.0]],
        [SAME, "ab"],
        [SAME, [[1.0], [0.0]]],
        [SAME, 5.0],
    ],
)
def test_vectors_that_cannot_be_compared_are_left_to_the_encoder(vectors):
    texts = ["One gate here.", "A gate there."]
    without = run(texts, embeddings=vectors, similarity_threshold=0.85)
    assert ids(without) == ["p0", "p1"]
    assert note(without, "semantic") == "skipped: no embeddings and no encoder"
    assert len(ids(run(texts, embeddings=vectors, similarity_threshold=0.85, encoder=counting("gate")))) == 1


# Order, again, and limits


words = st.sampled_from([*HARMLESS, "must not", "v1.2", "v1.3", "80", "Paris", "London"])
pool = st.lists(
    st.tuples(
        st.builds(lambda a, b: f"{COMMON} {a} then {b} and nobody waits for it", words, words),
        st.sampled_from([None, 0.5, 0.7, 0.9]),
        st.sampled_from([SAME, [0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]),
    ),
    min_size=2,
    max_size=8,
)


OPTIONS = {"ngram_threshold": 0.7, "similarity_threshold": 0.85, "max_tokens": 20_000}


@given(pool=pool, data=st.data())
def test_the_order_passages_come_in_does_not_decide_which_stay_and_once_is_enough(pool, data):
    given_ = [Passage(f"p{n}", text, score=score, embedding=vector) for n, (text, score, vector) in enumerate(pool)]
    other = data.draw(st.permutations(given_))
    once, two = compress("q", given_, **OPTIONS), compress("q", other, **OPTIONS)
    assert sorted(ids(once)) == sorted(ids(two))

    def pairs(result, passages):
        return {(d.passage.id, passages[d.duplicate_of].id) for d in result.dropped if d.duplicate_of is not None}

    assert pairs(once, given_) == pairs(two, other)
    for left in (
        [kept.original for kept in once.passages],
        [replace(kept.original, text=kept.text) for kept in once.passages],
    ):
        again = compress("q", left, **OPTIONS)
        assert (ids(again), again.text, dropped(again)) == (ids(once), once.text, {})
    assert_whole(once, [text for text, *_ in pool])
