"""Commands whose work is cut into shards: written, stopped half-way, and refused."""

from pathlib import Path

from kept_parts import damage, parts_in

from tropalign.cli.main import main


def named(words, name):
    """Words in which {} stands for the name of a run."""
    return [word.format(name) for word in words]


def shards_of(count, command):
    """Computes all shards of a command, with one thread and with two in turn; gives their paths."""
    paths = [f"{k}of{count}.shard" for k in range(1, count + 1)]
    for k, path in enumerate(paths, 1):
        assert main([*command, "-q", "--shard", f"{k}/{count}", "-o", path, "-t", str(1 + k % 2)]) == 0
    return paths


def stopped_and_resumed(monkeypatch, task, command, n_damaged=0):
    """Computes both shards of a command, the first of which fails at its third tile, loses parts, and goes on."""
    compute, computed = task.on_cpu, []

    def fails(task, tile, *arguments):
        computed.append(tile.index)
        if len(computed) == 3:
            raise MemoryError
        return compute(task, tile, *arguments)

    first, parts = [*command, "-q", "--shard", "1/2", "-o", "1of2.shard"], Path("1of2.shard.parts")
    with monkeypatch.context() as patch:
        patch.setattr(task, "on_cpu", fails)
        assert main(first) == 4
        assert len(parts_in(parts)) == 2
        damage(parts, n_damaged)
        assert main(first) == 0
    assert len(computed) == 1 + n_damaged + len(set(computed))  # only what failed or was damaged is computed twice
    assert main([*command, "-q", "--shard", "2/2", "-o", "2of2.shard"]) == 0
    return ["2of2.shard", "1of2.shard"]


def refuses(capsys, command, cases, *unwritten):
    """Each case, (words, exit code, part of the sentence), is refused by one sentence, and writes nothing."""
    for words, code, text in cases:
        capsys.readouterr()
        assert main([*command, *words]) == code
        error = capsys.readouterr().err
        assert text in error and error.count("\n") == 1
        assert not any(Path(path).exists() for path in unwritten)
