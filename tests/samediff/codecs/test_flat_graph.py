"""Graph files recorded from DL4J 1.0.0-M2.1 are read in full, written back equal, and never crash when damaged."""
from __future__ import annotations

import contextlib
import dataclasses
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dl4py.samediff.codecs.flatbuffers.array import decode_array, encode_array
from dl4py.samediff.codecs.flatbuffers.graph import FlatGraph, FlatNode, FlatVariable, IntPair, SequenceItem, SubInstance
from dl4py.samediff.codecs.flatbuffers.reader import FlatLimits, read_flat_graph
from dl4py.samediff.codecs.flatbuffers.schema import OpType, VarType
from dl4py.samediff.codecs.flatbuffers.writer import write_flat_graph
from dl4py.samediff.errors import DL4PyError, FileFormatError, LimitError, TruncatedFileError

GOLDEN = Path(__file__).parents[2] / "golden" / "samediff"
CASES = sorted(GOLDEN.glob("*/*/graph.fb"))
SMALL = ["files/dtype_utf8_ascii_2d", "files/dtype_uint16"]


def data(name: str) -> bytes:
    return (GOLDEN / name / "graph.fb").read_bytes()


def arrays_of(graph: FlatGraph):
    yield from ((v.name, v.ndarray) for v in graph.variables if v.ndarray)
    yield from ((n.name, n.scalar) for n in graph.nodes if n.scalar)
    for state in graph.updater_state:
        yield from ((f"{state.param_name}/{k}", a)
                    for k, a in zip(state.updater_state_keys, state.updater_state_values))
    yield from ((item.name, a) for item in graph.sequence_items for a in item.associated_variable)


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.parent.name)
def test_written_graph_reads_back_equal(path):
    graph = read_flat_graph(path.read_bytes())
    assert graph.variables
    copy = write_flat_graph(graph)
    assert read_flat_graph(copy) == graph
    assert write_flat_graph(read_flat_graph(copy)) == copy


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.parent.name)
def test_rules_that_every_file_obeys(path):
    graph = read_flat_graph(path.read_bytes())
    for node in graph.nodes:
        assert node.op_type in set(OpType)
        assert node.op_name and node.output_names
    for variable in graph.variables:
        has_value = variable.ndarray is not None
        assert has_value == (variable.variabletype in (VarType.VARIABLE, VarType.CONSTANT)), variable.name
        assert variable.dtype


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.parent.name)
def test_arrays_keep_their_values(path):
    graph = read_flat_graph(path.read_bytes())
    for name, stored in arrays_of(graph):
        array = decode_array(stored, name)
        for order in (0, 1):
            again = decode_array(encode_array(array, order), name)
            assert again.dtype == array.dtype
            np.testing.assert_array_equal(again, array)
            assert again.strides == array.strides or array.size < 2 or 1 in array.shape or not array.flags.forc


@pytest.mark.parametrize("path", [p for p in CASES if (p.parent / "arrays.npz").exists()], ids=lambda p: p.parent.name)
def test_stored_values_are_the_recorded_ones(path):
    graph = read_flat_graph(path.read_bytes())
    recorded = np.load(path.parent / "arrays.npz")
    found = 0
    for variable in graph.variables:
        if variable.ndarray is None:
            continue
        for key in (f"init/{variable.name}", f"out/{variable.name}", f"out0/{variable.name}"):
            if key in recorded.files:
                want = recorded[key]
                got = decode_array(variable.ndarray)
                np.testing.assert_array_equal(got.astype(want.dtype), want, err_msg=variable.name)
                found += 1
    assert found or path.parent.parent.name != "train"


def test_updater_state_and_training_configuration():
    graph = read_flat_graph(data("files/training_adam_state"))
    assert '"@class"' in graph.training_config
    assert all(sorted(state.updater_state_keys) == ["M", "V"] for state in graph.updater_state)


def test_sequences_and_metadata_share_a_slot():
    graph = read_flat_graph(data("files/sequence"))
    assert [item.name for item in graph.sequence_items] == ["seq"]
    newer = FlatGraph(metadata_keys=("a",), metadata_values=("1",), sub_instances=(SubInstance("g", b"123"),))
    assert read_flat_graph(write_flat_graph(newer)) == newer
    with pytest.raises(FileFormatError, match="slot 9"):
        write_flat_graph(dataclasses.replace(newer, sequence_items=(SequenceItem("s"),)))


def test_unknown_rank_is_not_a_scalar():
    shapes = [None, (), (-1, 4)]
    graph = FlatGraph(variables=tuple(FlatVariable(IntPair(i), f"p{i}", 5, s) for i, s in enumerate(shapes)))
    assert [v.shape for v in read_flat_graph(write_flat_graph(graph)).variables] == shapes


@pytest.mark.parametrize("name", SMALL)
def test_truncation_is_reported(name):
    whole = data(name)
    graph = read_flat_graph(whole)
    for end in range(len(whole)):
        try:
            read = read_flat_graph(whole[:end])
        except TruncatedFileError:
            continue
        assert read == graph and end >= len(whole) - 4  # only padding was lost


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SMALL)
def test_a_flipped_bit_never_escapes_the_error_tree(name):
    whole = data(name)
    for position in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[position] ^= 1 << bit
            try:
                for what, array in arrays_of(read_flat_graph(damaged)):
                    decode_array(array, what)
            except DL4PyError:
                pass


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_noise_is_refused(noise):
    with contextlib.suppress(FileFormatError):
        read_flat_graph(noise)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_overwritten_words_are_refused_quickly(draw):
    damaged = bytearray(data("files/dtype_uint16"))
    for _ in range(draw.draw(st.integers(1, 6))):
        position = draw.draw(st.integers(0, len(damaged) // 4 - 1)) * 4
        word = draw.draw(st.sampled_from([0, 4, 8, 40, 2**31, 2**32 - 1]))
        struct.pack_into("<I", damaged, position, word)
    with contextlib.suppress(FileFormatError):
        read_flat_graph(damaged)


def test_offsets_that_meet_in_one_place_are_limited():
    """One node with a long name that thousands of offsets lead to must not be read thousands of times."""
    count = 2000
    graph = FlatGraph(nodes=(FlatNode(name="x" * 100_000), *(FlatNode() for _ in range(count - 1))))
    crafted = bytearray(write_flat_graph(graph))
    root = struct.unpack_from("<I", crafted)[0]
    vtable = root - struct.unpack_from("<i", crafted, root)[0]
    slot = root + struct.unpack_from("<H", crafted, vtable + 8)[0]
    first = slot + struct.unpack_from("<I", crafted, slot)[0] + 4
    target = first + struct.unpack_from("<I", crafted, first)[0]
    for place in range(first, first + 4 * count, 4):
        struct.pack_into("<I", crafted, place, target - place)
    with pytest.raises(LimitError, match="again and again"):
        read_flat_graph(crafted)


def test_limits_and_foreign_files():
    whole = data(SMALL[0])
    with pytest.raises(LimitError):
        read_flat_graph(whole, FlatLimits(max_bytes=100))
    with pytest.raises(LimitError):
        read_flat_graph(whole, FlatLimits(max_tables=3))
    with pytest.raises(FileFormatError, match="ZIP"):
        read_flat_graph(b"PK\x03\x04" + bytes(50))
    with pytest.raises(TruncatedFileError):
        read_flat_graph(b"")


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(FileFormatError, match=r"dimensions.*32 bits"):
        write_flat_graph(FlatGraph(nodes=(FlatNode(dimensions=(2**31,)),)))
    with pytest.raises(FileFormatError, match="op_num"):
        write_flat_graph(FlatGraph(nodes=(FlatNode(op_num=2**63),)))
