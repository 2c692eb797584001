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
