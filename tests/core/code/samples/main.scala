object Main {
  def add(a: Int): Int = {
    a + 1
  }
}
