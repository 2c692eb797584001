"""The pages of a handbook, as a store would return them: fixed, so that figures about them stay."""

from ctxcompress import Passage

_PAGES = (
    """\
# Caching

The cache remembers what was found out about a page. A second question about the same page then takes a quarter of
the time. Nothing else changes: the answers are the same with and without it.

## In memory

A cache in memory is the fastest one. It is empty when the process ends. Its size is limited to 64 MB, and the
pages that were not used for the longest time go first. Threads share it.

## On disk

To keep the cache on disk, give the path of a file: `cache = "cache.sqlite"`. The file is made if there is none.
Only its owner can read it. Several processes can use the same file at the same time. A damaged file counts as an
empty cache, and is written anew.

Give a disk cache an age with `ttl`, in seconds. What is older is not used and is deleted in time. To empty the
file, call `clear()`, or delete it while no process runs. On a network drive the disk cache is slow; use a server
there.
""",
    """\
# Timeouts and retries

The client waits 30 seconds for an answer. Change that with `timeout`, in seconds. A timeout of 0 waits without an
end, which is seldom what you want.

A request that fails is sent again up to three times. Between two tries the client waits for 1, 2 and 4 seconds. A
request that changes something is never sent twice, unless it carries a key that makes it safe.

## How do I see what was sent again?

Each try has a line in the log, with the number of the try and the reason. The metric `client.retries` counts them.
If more than one request in ten is sent again, look at the server first.
""",
    """\
# Users and rights

A user belongs to one or more groups. What a user may do is the sum of what the groups may do. There is no rule
that takes a right away.

| group | reads | writes | manages |
|---|---|---|---|
| guests | public pages | nothing | nothing |
| staff | all pages | their own pages | nothing |
| editors | all pages | all pages | pages |
| owners | all pages | all pages | users and groups |

An owner can lend a right for a time, at most for 30 days. The loan is noted in the journal. When a user leaves,
the pages stay, and the owner of the group becomes their author.
""",
    """\
# Backups

A backup is made each night at two. It holds the pages, the users and the journal, and neither the cache nor the
search index, because both can be made anew. Backups are kept for 14 days on another disk.

To bring a backup back, stop the server, run `restore` with the day, and start the server again. That takes about
ten minutes for 100,000 pages. The first search after it is slow: the index is made anew.

Try it once a quarter. A backup that was never brought back is a hope and no backup. Keep one copy of each month
outside the house, and encrypt it.
""",
    """\
# Search

The index is updated within five seconds after a page was saved. It knows the words of the page, its title and its
headings. Words in the title count three times.

- Put words in quotation marks to find them next to each other.
- Put a minus before a word to leave out the pages that have it.
- Write `in:archive` to search the archive, which is left out otherwise.

The first twenty results are shown. How they are sorted depends on the question: pages that were changed lately
come first if the question has a date in it.
""",
    """\
# Logs

The log has one line for each event. Its level is one of debug, info, warning and error. In normal operation
nothing below info is written, because debug lines hold the texts of pages.

Logs are kept on disk for a week, in one file a day. Older files are packed, and deleted after 90 days. How do you
keep them for longer? Set `log_days`, and see that the disk has room: a busy server writes 2 GB a day.

Each request has a number, which is in all of its lines and in the answer. Give that number when you ask for help.
""",
    """\
# Moving to a new server

Install the same version on the new server. Copy the configuration, then bring the last backup back. Point the name
of the server to the new address, and keep the old one running for a day, so that nobody is locked out.

The cache need not be copied. It fills itself within an hour. If you do copy it, copy the file while the server is
stopped, or what you get is damaged.

Tell your users the time. A move on a Monday morning makes no friends.
""",
)
_LENGTH = 400


def chunks() -> list[Passage]:
    """Return the pages in chunks of equal length, which cut sentences as chunks do."""
    return [
        Passage(f"{number}:{at}", text[at : at + _LENGTH])
        for number, text in enumerate(_PAGES)
        for at in range(0, len(text), _LENGTH)
    ]
