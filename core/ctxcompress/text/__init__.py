"""Text processing that queries and passages share: languages, stop words, words, stems, lines and graphemes."""
