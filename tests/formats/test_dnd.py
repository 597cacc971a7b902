"""The guide tree as CLUSTALW reads it."""

import io

from Bio import Phylo

import tropalign
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.trees.text import encode_dnd


def guide_tree(tree, names):
    plain = tropalign.MultipleAlignment.from_rows(names, ["MKV"] * len(names))
    alignment = tropalign.MultipleAlignment(plain.sequences, plain.columns, plain.n_columns, tree=tree)
    return encode_dnd(alignment, AlignedContext()).decode()


def test_a_node_per_line_and_lengths_of_32_bits():
    text = guide_tree("((a:0.1,'b c':0.30000001192092896)90:0.25,('d(1)':1e-05,e:2):0);", ["a", "b c", "d(1)", "e"])
    assert text == "(\n(\na:0.1,\nb_c:0.3)\n:0.25[90],\n(\nd_1_:1e-05,\ne:2.0)\n:0.0);\n"
    assert [leaf.name for leaf in Phylo.read(io.StringIO(text), "newick").get_terminals()] == ["a", "b_c", "d_1_", "e"]


def test_names_are_those_that_clustalw_gives_its_sequences():
    text = guide_tree("('a''b;{1}':0.5,'c,d:e(f)':0.25,'g|h':1);", ["a'b;{1}", "c,d:e(f)", "g|h"])
    assert text == "(\na'b_{1}:0.5,\nc_d_e_f_:0.25,\ng|h:1.0);\n"
    assert guide_tree("'a b';", ["a b"]) == "a_b;\n"
