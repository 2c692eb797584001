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
