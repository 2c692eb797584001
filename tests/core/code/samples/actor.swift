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
