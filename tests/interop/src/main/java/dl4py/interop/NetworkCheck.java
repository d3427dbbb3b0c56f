package dl4py.interop;

import java.io.File;

import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.util.ModelSerializer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.linalg.dataset.api.preprocessor.Normalizer;
import org.nd4j.shade.jackson.databind.node.ObjectNode;

/** Model archives: outputs, one more step of training, parameters and updater state after it. */
final class NetworkCheck implements Check {
    @Override
    public void run(Case given, ObjectNode result) throws Exception {
        boolean graph = given.text("kind").equals("graph");
        File file = given.file();
        Model net = graph ? ModelSerializer.restoreComputationGraph(file, true) : ModelSerializer.restoreMultiLayerNetwork(file, true);
        INDArray[] inputs = given.arrays("inputs");
        INDArray[] outputs = given.arrays("outputs");
        result.put("loaded", true);
        INDArray[] masks = given.arrays("featureMasks");
        INDArray[] found = output(net, inputs, masks);
        double apart = 0;
        for (int i = 0; i < outputs.length; i++) {
            double one = Case.difference(outputs[i], found[i]);
            if (Double.isInfinite(one)) {
                throw new IllegalStateException("output " + i + " is " + Case.shown(found[i]) + ", expected " + Case.shown(outputs[i]));
            }
            apart = Math.max(apart, one);
        }
        result.put("outputs", apart);
        if (given.has("labels")) {
            MultiDataSet data = new MultiDataSet(copies(inputs), given.arrays("labels"), masks, given.arrays("labelMasks"));
            if (graph) {
                ((ComputationGraph) net).fit(data);
            } else {
                ((MultiLayerNetwork) net).fit(new org.nd4j.linalg.dataset.DataSet(data.getFeatures(0), data.getLabels(0),
                        masks == null ? null : masks[0], data.getLabelsMaskArrays() == null ? null : data.getLabelsMaskArray(0)));
            }
            result.put("score", net.score());
        }
        if (net.params() != null && net.params().length() > 0) {
            given.write(".params", net.params());
            INDArray state = graph ? ((ComputationGraph) net).getUpdater().getStateViewArray()
                    : ((MultiLayerNetwork) net).getUpdater().getStateViewArray();
            if (state != null) {
                given.write(".state", state);
            }
        }
        File saved = given.saved(".zip");
        ModelSerializer.writeModel(net, saved, true);
        if (given.has("normalizer")) {
            Normalizer<?> normalizer = ModelSerializer.restoreNormalizerFromFile(file);
            ModelSerializer.addNormalizerToModel(saved, normalizer);
        }
        found = output(net, inputs, masks);
        for (int i = 0; i < outputs.length; i++) {
            given.write("." + i, found[i]);
        }
    }

    private static INDArray[] output(Model net, INDArray[] inputs, INDArray[] masks) {
        INDArray[] copies = copies(inputs);
        if (net instanceof ComputationGraph) {
            return ((ComputationGraph) net).output(false, copies, masks, null);
        }
        return new INDArray[] {((MultiLayerNetwork) net).output(copies[0], false, masks == null ? null : masks[0], null)};
    }

    /** Layers may write into their inputs. */
    private static INDArray[] copies(INDArray[] arrays) {
        INDArray[] made = new INDArray[arrays.length];
        for (int i = 0; i < made.length; i++) {
            made[i] = arrays[i].dup('c');
        }
        return made;
    }
}
