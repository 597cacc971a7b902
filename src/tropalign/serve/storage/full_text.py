"""Full-text search over jobs: FTS5 in SQLite, tsvector in PostgreSQL, with the same words on both.

Words are cut here and not by the engines: letters and digits, in lower case, without accents. So nothing that a user
types is syntax to an engine, and ``proteins`` finds ``proteins.fa`` on both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    cast,
    delete,
    func,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from tropalign.serve.storage.database import is_postgresql
from tropalign.serve.storage.schema import clean, job_words

#: Different words by which a job is found, and letters of a word that count.
MOST_WORDS, MOST_LETTERS = 20_000, 60
#: All words of a job together; a tsvector takes a megabyte.
MOST_BYTES = 600_000
#: Words of a question that count.
MOST_ASKED = 20
_WORD = re.compile(r"[^\W_]+")
#: FTS5's table as it is asked.
_fts = Table("job_words", MetaData(), Column("rowid", Integer), Column("words", Text))


def words_of(*texts: str) -> list[str]:
    """The different words of texts, in the order of their first places.

    Examples
    --------
    >>> words_of("Protéines_A.fa, proteines", "x")
    ['proteines', 'a', 'fa', 'x']
    """
    found: dict[str, None] = {}
    n_bytes = 0
    for words in texts:
        plain = "".join(
            letter for letter in unicodedata.normalize("NFKD", clean(words)) if not unicodedata.combining(letter)
        )
        for match in _WORD.finditer(plain.casefold()):
            word = match.group()[:MOST_LETTERS]
            n_bytes += 0 if word in found else len(word.encode())
            if len(found) == MOST_WORDS or n_bytes > MOST_BYTES:
                return list(found)
            found[word] = None
    return list(found)


def write_words(connection: Connection, job: int, texts: Iterable[str]) -> None:
    """What a search finds the job by, from now on."""
    remove_words(connection, job)
    words = words_of(*texts)
    if is_postgresql(connection):
        array = func.array_to_tsvector(cast(words, ARRAY(Text)))
        connection.execute(job_words.insert().values(job=job, words=array))
    else:
        connection.execute(
            text("INSERT INTO job_words (rowid, words) VALUES (:job, :words)"), {"job": job, "words": " ".join(words)}
        )


def remove_words(connection: Connection, job: int) -> None:
    """No search finds the job any more."""
    if is_postgresql(connection):
        connection.execute(delete(job_words).where(job_words.c.job == job))
    else:
        connection.execute(text("DELETE FROM job_words WHERE rowid = :job"), {"job": job})


def found_by(connection: Connection, question: str) -> Select[tuple[int]] | None:
    """The numbers of jobs that have all words of a question, the last one as a beginning; None where it has none."""
    words = words_of(question)[:MOST_ASKED]
    if not words:
        return None
    if is_postgresql(connection):
        query = " & ".join(f"'{word}'" for word in words) + ":*"
        # The text is taken as lexemes, not parsed again; '...' holds letters and digits alone.
        asked = cast(cast(query, String), TSQUERY)
        return select(job_words.c.job).where(job_words.c.words.op("@@")(asked))
    query = " AND ".join(f'"{word}"' for word in words) + " *"
    return select(_fts.c.rowid).where(text("job_words MATCH :asked").bindparams(asked=query))
