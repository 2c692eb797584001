"""The texts of the tests of examples: long ones with one line or one sentence that answers."""

QUERY = "why did the build fail?"
ANSWER = "12:03:57 ERROR module 237: cannot find header <zlib.h>"
LOG = "12:00:00 INFO the build begins\n" + "\n".join(
    ANSWER if number == 237 else f"12:{number // 60:02}:{number % 60:02} INFO compiled module {number}"
    for number in range(400)
)
MANUAL = "The default timeout of the client is 30 seconds. " + "In the harbour the ships came in late again. " * 200
