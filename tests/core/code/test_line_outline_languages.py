"""What the lines tell of each language: definitions, their names, and whose they are."""

from pathlib import Path

import pytest
from outline_faults import faults

from ctxcompress.code.detection import source_language
from ctxcompress.code.line_outline import line_outline
from ctxcompress.data.passages import NodeKind, walk

SCRIPT = """\
Router.prototype._optionsFor = function(path){
  return 1;
};
module.exports = {
  mixins: [A],
  data() {
    return { a: 1 };
  },
  load: async function (id, { force = false } = {}) {
    const found = await fetch(id, { force });
    const parsed = await found.json();
    this.$emit('loaded', { id, parsed, force });
  },
  'drop-all': (x) => {
    return x;
  },
};
define('a/b', ['x', 'y'], function (x, y) {
  class Foo extends x.Bar {
    #secret(a) {
      return a;
    }
    get size() {
      return 1;
    }
    static handle = async (e) => {
      e.stop();
    };
  }
  function inner(z) {
    return z;
  }
  return Foo;
});
request.onload = function handleLoad() {
  send(request, {
    a: 1,
  }, {
    b: 2,
  });
};
"""
TYPED_SCRIPT = """\
@Component({
  selector: 'a',
})
export class A extends B<C> implements D {
  private readonly go = (a: number): void => {
    this.b(a);
  };
  constructor(
    private readonly http: HttpClient,
  ) {
    super();
  }
  async find<T>(id: number): Promise<T | null> {
    return null;
  }
}
export default function (a: A): B {
  return a;
}
"""
KOTLIN = """\
@Test
suspend inline fun <reified T> Foo.bar(
    a: Int,
): T {
    return x
}
class A(
    val b: Int,
) : B(), C {
    override fun go(x: Int): Int = x
    constructor(a: String) : this(a.toInt()) {
        run()
    }
}
"""
CSHARP = """\
namespace A.B
{
    [Serializable]
    public sealed class C<T> : D<T>, IE
        where T : class
    {
        public C(int a)
            : base(a)
        {
            b = a;
        }
        public async Task<IActionResult> Get([FromQuery] int id, CancellationToken t = default)
        {
            return Ok(id);
        }
    }
}
"""
RUBY = """\
module A
  class B < C::D
    def self.build(x, y = 1)
      new(x).tap do |z|
        z.go
      end
    end

    private

    def run!
      raise Error, "x" unless @x
    end
  end
end
"""
PHP = """\
<?php
abstract class A extends B implements C
{
    public static function make(array $x = [], ?int $y = null): static
    {
        return new static($x);
    }
    private function &foo() {
        return array_map(function ($x) {
            return $x;
        }, $this->y);
    }
}
"""
SWIFT = """\
@MainActor
public final class A: B, C {
    public init(a: Int) {
        self.a = a
    }
    @discardableResult public static func make<T>(_ x: T) throws -> A where T: Hashable {
        return A(a: 1)
    }
    mutating func go()
    {
        run()
    }
}
"""
SQL = """\
CREATE TABLE IF NOT EXISTS shop.users (
  id int
);
CREATE OR REPLACE FUNCTION f(a int) RETURNS int AS $$
BEGIN
  RETURN a;
END;
$$ LANGUAGE plpgsql;
"""
SHELL = """\
# Builds it.
build() {
  local x=$1
}

function deploy {
  echo $1
}
"""
LANGUAGES = {
    "javascript": (
        SCRIPT,
        "Router._optionsFor data load drop-all Foo Foo.secret Foo.size Foo.handle inner request.onload",
    ),
    "typescript": (TYPED_SCRIPT, "A A.go A.constructor A.find default"),
    "kotlin": (KOTLIN, "Foo.bar A A.go A.constructor"),
    "csharp": (CSHARP, "A.B A.B.C A.B.C.C A.B.C.Get"),
    "ruby": (RUBY, "A A.B A.B.build A.B.run"),
    "php": (PHP, "A A.make A.foo"),
    "swift": (SWIFT, "A A.init A.make A.go"),
    "sql": (SQL, "users f"),
    "shell": (SHELL, "build deploy"),
}  # fmt: skip
DEFINES = frozenset((NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))


def defined(text, language):
    return [node.name for node in walk(line_outline(text, language)) if node.kind in DEFINES and node.name]


FILES = {
    "Ledger.java": "Ledger Ledger.Ledger Ledger.total Ledger.Entry Ledger.Entry.key Ledger.Point Ledger.Point.zero "
    "Ledger.State Ledger.State.State Ledger.State.done Shape Shape.label Marked",
    "buffer.c": "plain state both buffer_open",
    "graph.cpp": "graph.core graph.core.Forward graph.core.Node graph.core.Node.as graph.core.Node.Edge "
    "graph.core.Node.Edge.weight graph.core.Node.Color graph.core.Plain graph.core.Node.~Node graph.core.Plain.y main",
    "server.go": "Server Handler Server.Run Server.unexported Map init init.local",
    "service.py": "Service Service.__init__ Service.size Service.Inner Service.Inner.Deep Service.Inner.Deep.method "
    "Service.Inner.other greet _hidden",
    "shapes.rs": "other Shape Unit Kind Weigh Weigh.Output Weigh.weigh Weigh.twice Shape Shape.new Shape.walk Shape "
    "Shape.fmt square tests tests.weighs tests.weighs.inner",
}


@pytest.mark.parametrize("name", FILES)
def test_definitions_in_files_are_found_with_whose_they_are(name):
    text = (Path(__file__).parent / "fixtures" / name).read_text(encoding="utf-8")
    assert defined(text, source_language(text, name)) == FILES[name].split()


@pytest.mark.parametrize("language", LANGUAGES)
def test_definitions_are_found_with_whose_they_are(language):
    text, names = LANGUAGES[language]
    assert defined(text, language) == names.split()
    assert not faults(text, line_outline(text, language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_chunk_that_begins_anywhere_is_partitioned(language):
    text, _ = LANGUAGES[language]
    for start in range(0, len(text), 37):
        assert not faults(text[start:], line_outline(text[start:], language))


@pytest.mark.parametrize("language", ["javascript", "java", "rust"])
def test_many_open_brackets_take_no_longer(language):
    text = "f({\n" * 20_000 + "}" * 20_000
    assert not faults(text, line_outline(text, language))
    text = "where\n" * 20_000 + "#[a] " * 20_000 + "(" * 20_000
    assert not faults(text, line_outline(text, language))
