package dl4py.interop;

import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.shade.jackson.databind.node.ObjectNode;

/** Single arrays of every type: the same in another order of memory. */
final class ArrayCheck implements Check {
    @Override
    public void run(Case given, ObjectNode result) throws Exception {
        INDArray found = given.array(given.text("file"));
        result.put("loaded", true);
        result.put("outputs", Case.difference(given.array(given.json.get("outputs").get(0).asText()), found));
        given.write(".0", found);
        given.write(".f", found.isEmpty() ? found : found.dup('f'));
    }
}
