"""NEXUS files as trees: names of TRANSLATE and TAXLABELS, support in comments, plain trees as Biopython reads them."""

import io

import pytest
from Bio import Phylo

from tropalign import InputError
from tropalign.trees import parse_tree, read_tree

BEAST = """#NEXUS

Begin taxa;
Dimensions ntax=3;
Taxlabels  mouse 'house cat' x_y ;
End;
Begin trees;
Translate
1 mouse, [the first]
2 'house cat',
3 x_y
;
tree TREE1 = [&R] ((1[&height=0.0,height_95%_HPD={0.0,1.0E-15}]:1.5E0,2:[&rate=1.0]2.5)
[&height=1.5,posterior=0.98]:0.5,3:3.0)[&posterior=1.0];
End;
"""
MRBAYES = """#NEXUS
begin trees;
 translate 1 A,2 B,3 C,4 D;
 tree con_50_majrule = [&U] (1[&prob=1.0e+00]:1e-1,(2:2e-1,3:3e-1)
 [&prob=9.5e-01,prob_stddev=1.0e-02,prob_range={9.4e-01,9.6e-01},prob(percent)="95"]:4e-1,4:5e-1);
end;
"""
FIGTREE = """#NEXUS
begin trees;
tree tree_1 = [&R] ((A:1,B:2)[&label="97",!color=#ff0000]:3,(C:1,D:1)'clade 9':1);
end;
begin figtree;
set appearance.branchLineWidth=1.0;
end;
"""
TAXA = "#NEXUS begin taxa; taxlabels mouse [the first] 'house cat' x_y; end; "
PLAIN = """#NEXUS
begin trees;
tree one=(A:1,(B:2,C:3)90:0.5,D:4);
end;
"""


@pytest.mark.parametrize(
    ("text", "newick"),
    [
        (BEAST, "((mouse:1.5E0,'house cat':2.5)0.98:0.5,x_y:3.0)1.0;"),
        (MRBAYES, "(A:1e-1,(B:2e-1,C:3e-1)9.5e-01:4e-1,D:5e-1);"),
        (FIGTREE, "((A:1,B:2)97:3,(C:1,D:1)'clade 9':1);"),
        (PLAIN, "(A:1,(B:2,C:3)90:0.5,D:4);"),
        ("#nexus BEGIN TREES; UTREE * x = (a,'it''s'); ENDBLOCK;", "(a,'it''s');"),
        ("#NEXUS begin trees; translate 1 B, 2 A; tree x = ((1:1,2:1)2:1,3:1); end;", "((B:1,A:1)2:1,3:1);"),
        ("#NEXUS begin trees; translate 1 A, 2 'b c',; tree x = (1,2); end;", "(A,'b c');"),
        ("#NEXUS begin trees; translate \"x y\" A; tree 'a=b'=[&R]('x y',2); end;", "(A,2);"),
        ("#NEXUS begin trees; tree x=[&U] [&lnP=-1.5] (it's:1,B:1.e-5); end;", "(it's:1,B:1e-5);"),
        (TAXA + "begin trees; tree x = ((1:1,2:1)3:1,3:1); end;", "((mouse:1,'house cat':1)3:1,x_y:1);"),
        (TAXA + "begin trees; tree x = (x_y:1,mouse:1,2:1); end;", "(x_y:1,mouse:1,'house cat':1);"),
        (TAXA.replace("x_y", "1") + "begin trees; tree x = (1:1,2:1,mouse:1); end;", "(1:1,'house cat':1,mouse:1);"),
        (TAXA + "begin trees; translate 1 dog; tree x = (1,2); end;", "(dog,2);"),
        (TAXA + TAXA[6:] + "begin trees; tree x = (1,2); end;", "(1,2);"),
        ("#NEXUS begin notes; text it's ' a lone quote; end; begin trees; tree x = (a,b); end;", "(a,b);"),
        ("#NEXUS [a [nested] comment]\rbegin trees;\rtree x = (a,b);\rend;\r", "(a,b);"),
        ("#NEXUS begin trees; tree x = (a{1},b)[&posterior=0.5]; end;", "(a{1},b)0.5;"),
        ("\ufeff#NEXUS begin trees;; tree x = (a,b);; end;", "(a,b);"),
    ],
)
def test_names_and_support_of_other_programs(text, newick):
    assert parse_tree(text, "x.nex").newick() == parse_tree(newick).newick()


@pytest.mark.parametrize("text", [BEAST.replace(":[&rate=1.0]2.5", ":2.5"), PLAIN])  # no comments behind lengths
def test_biopython_reads_the_same(text):
    (theirs,) = Phylo.parse(io.StringIO(text), "nexus")
    ours = parse_tree(text)
    assert [leaf.name.strip("'") for leaf in theirs.get_terminals()] == list(ours.names)
    lengths = [leaf.branch_length for leaf in theirs.get_terminals()]
    assert lengths == pytest.approx(ours.lengths[: ours.n_taxa].tolist())


def test_a_file(tmp_path):
    (tmp_path / "x.nex").write_text(FIGTREE)
    tree = read_tree(tmp_path / "x.nex")
    assert tree.names == ("A", "B", "C", "D") and tree.labels == ("clade 9", "", "")
    assert tree.support.tolist()[4:] == pytest.approx([float("nan"), 97, float("nan")], nan_ok=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("#NEXUS\nbegin data; matrix a ACGT; end;", ": this NEXUS file contains no tree in a block TREES: give a file"),
        ("#NEXUS", ": this NEXUS file contains no tree"),
        (
            PLAIN.replace("end;", "tree two=(A,B); tree three=('C;',D); end;"),
            ": the file contains 3 trees, but exactly one is required: write it to a file of its own",
        ),
        (
            "#NEXUS begin trees; tree x = (a,b",
            ", line 1, column 30: this bracket is not closed: the file may be tr",
        ),
        ("#NEXUS begin trees; tree x = (a,b)", ", line 1, column 20: this statement has no semicolon at its end"),
        ("#NEXUS begin trees;\ntree x (a,b); end;", ", line 2, column 1: this tree has no name and equals sign: write"),
        ("#NEXUS begin trees; tree = (a,b); end;", ", line 1, column 21: this tree has no name and equals sign"),
        ("#NEXUS begin trees; tree x = (a,'b); end;", ", line 1, column 33: this quote is not closed"),
        ("#NEXUS begin trees; tree x = [&R (a,b); end;", ", line 1, column 30: this comment is not closed"),
        ("#NEXUS begin trees; tree x = ((a,b); end;", ", line 1, column 30: this bracket is not closed"),
        ("#NEXUS begin trees; tree x = (a b,c); end;", ", line 1, column 33: unexpected 'b' after the label 'a'"),
        (
            "#NEXUS begin trees; tree x = (a:1,5,c:1); end;",
            ", line 1, column 34: the comma before '5' may be a decimal",
        ),
        (
            "#NEXUS begin trees; translate 1 a b; tree x = (1,2); end;",
            (", line 1, column 35: TRANSLATE must consist of pairs"),
        ),
        ("#NEXUS begin trees; translate 1 a, 2; tree x = (1,2); end;", ", line 1, column 36: TRANSLATE has no name fo"),
        ("#NEXUS begin trees; translate 1 a, 1 b; tree x = (1,2); end;", ", line 1, column 36: TRANSLATE has two name"),
        (
            "#NEXUS begin trees; translate 1 'a\nb', 2 c; tree x = (1,2); end;",
            ", line 1, column 33: this quote is not c",
        ),
        (
            TAXA.replace("'house cat'", "'a\r[b]'") + PLAIN[6:],
            ", line 1, column 48: this quote is not closed on its li",
        ),
        ("#NEXUS (a,b);", ", line 1, column 8: unexpected '(' at the start of a statement"),
        ("#NEXUS begin trees; tree x = (a,a); end;", ": two taxa are called 'a'"),
    ],
)
def test_damage_costs_a_sentence(text, why):
    with pytest.raises(InputError) as error:
        parse_tree(text, "x.nex")
    assert str(error.value).startswith(f"x.nex{why}")
