from pegboard.features.dependencies.recorded_graph import RecordedGraph
from pegboard.features.dependencies.views import graph_dict
from pegboard.registry.dependencies import GraphChange


def test_a_graph_is_shown_with_its_layers_and_what_is_missing() -> None:
    graph = RecordedGraph()
    graph.apply(GraphChange(add_nodes=("a_v1", "b_v1"), add_edges=(("a_v1", "b_v1"),)))

    assert graph_dict(graph.current, {"b_v1": "b"}) == {
        "version": 1,
        "nodes": [
            {"id": "a_v1", "name": "", "is_missing": True, "origins": ["api"]},
            {"id": "b_v1", "name": "b", "is_missing": False, "origins": ["api"]},
        ],
        "edges": [{"prerequisite": "a_v1", "dependant": "b_v1", "origins": ["api"]}],
        "layers": [["a_v1"], ["b_v1"]],
    }
