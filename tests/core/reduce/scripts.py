"""Modules of TypeScript and JavaScript as they are written: many types, exported functions, and helpers."""

NAMES = "create update remove find list count open close load store merge split encode decode parse print".split()
FUNCTIONS = [*(f"{name}Order" for name in NAMES), "withRetries", "isPaid", "totalOf", "toJson"]
"""What a module exports: 20 functions."""
_TYPES = [f"Order{name.title()}Options" for name in NAMES[:12]]
_BODY = "  const found = await client.get(`/orders/${id}`, { signal: options.signal });\n" * 4


def imports(count=6):
    return [f'import {{ part{n}, other{n} }} from "./lib/module{n}";' for n in range(count)]


def typescript():
    """Imports, interfaces and aliases, then functions with helpers in between, and a default export."""
    interface = "/** What {0} needs. */\nexport interface {0} {{\n  id: string;\n  signal?: AbortSignal;\n}}\n\n"
    alias = 'export type {0}State = "new" | "paid" | "sent";\n\n'
    helper = "function check{0}(value: unknown): boolean {{\n  return value !== null;\n}}\n\n"
    function = (
        "/**\n * Does {0}.\n *\n * @param id of the order\n */\n"
        "export async function {0}(id: string, count = {1}): Promise<Order> {{\n{2}  return found;\n}}\n\n"
    )
    types = [interface.format(name) + alias.format(name) for name in _TYPES]
    functions = [
        helper.format(n) + function.format(name, n, _BODY) if n % 2 else function.format(name, n, _BODY)
        for n, name in enumerate(FUNCTIONS)
    ]
    return "\n".join(imports()) + "\n\n" + "".join(types) + "".join(functions) + "export default createOrder;\n"


def javascript():
    """The same with `require` and `module.exports`."""
    head = "\n".join(f'const part{n} = require("./lib/module{n}");' for n in range(6))
    helper = "function check{0}(value) {{\n  return value !== null;\n}}\n\n"
    function = "async function {0}(id, count = {1}) {{\n{2}  return found;\n}}\n\n"
    functions = [helper.format(n) + function.format(name, n, _BODY) for n, name in enumerate(FUNCTIONS)]
    listed = ", ".join(FUNCTIONS)
    return f'"use strict";\n\n{head}\n\n{"".join(functions)}module.exports = {{ {listed} }};\n'


def tsx():
    """Components as constants, with their properties as types."""
    part = (
        "export interface {0}Props {{\n  order: Order;\n}}\n\n"
        "export const {0} = ({{ order }}: {0}Props) => {{\n{1}  return <li>{{order.id}}</li>;\n}};\n\n"
        "const use{0} = () => {{\n  return useState(null);\n}};\n\n"
    )
    parts = [
        part.format(name[0].upper() + name[1:], '  useEffect(() => log("shown"), []);\n' * 5) for name in FUNCTIONS
    ]
    return "\n".join(imports()) + "\n\n" + "".join(parts) + "export default CreateOrder;\n"
