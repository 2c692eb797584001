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
