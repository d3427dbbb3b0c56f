package dl4py.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.nd4j.autodiff.samediff.SDVariable;
import org.nd4j.autodiff.samediff.SameDiff;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.shade.jackson.databind.node.ObjectNode;

/** Graph files: outputs, gradients, one more step of training. */
final class SameDiffCheck implements Check {
    @Override
    public void run(Case given, ObjectNode result) throws Exception {
        SameDiff sd = SameDiff.load(given.file(), true);
        result.put("loaded", true);
        Map<String, INDArray> feed = given.named("feed");
        Map<String, INDArray> outputs = given.named("outputs");
        List<String> names = new ArrayList<>(outputs.keySet());
        Map<String, INDArray> made = sd.output(feed, names);
        if (!given.json.path("compared").asBoolean(true)) {
            return;
        }
        result.put("outputs", compared(outputs, made));
        if (given.has("gradients")) {
            Map<String, INDArray> wanted = given.named("gradients");
            result.put("gradients", compared(wanted, sd.calculateGradients(feed, new ArrayList<>(wanted.keySet()))));
        }
        if (given.has("labels")) {
            sd.fit(new MultiDataSet(given.arrays("inputs"), given.arrays("labels")));
            for (SDVariable v : sd.variables()) {
                if (sd.isConstant(v.name()) || v.getVariableType() != org.nd4j.autodiff.samediff.VariableType.VARIABLE) {
                    continue;
                }
                given.write("." + v.name(), v.getArr());
            }
        }
        sd.save(given.saved(".fb"), true);
        int i = 0;
        Map<String, INDArray> found = sd.output(feed, names);
        for (String name : names) {
            given.write("." + i++, found.get(name));
        }
    }

    private static double compared(Map<String, INDArray> wanted, Map<String, INDArray> found) {
        double apart = 0;
        for (Map.Entry<String, INDArray> one : wanted.entrySet()) {
            double d = Case.difference(one.getValue(), found.get(one.getKey()));
            if (Double.isInfinite(d)) {
                throw new IllegalStateException(one.getKey() + " is " + Case.shown(found.get(one.getKey())) + " " + found.get(one.getKey())
                        + ", expected " + Case.shown(one.getValue()) + " " + one.getValue());
            }
            apart = Math.max(apart, d);
        }
        return apart;
    }
}
