package dl4py.interop;

import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.linalg.dataset.api.preprocessor.DataNormalization;
import org.nd4j.linalg.dataset.api.preprocessor.MultiDataNormalization;
import org.nd4j.linalg.dataset.api.preprocessor.Normalizer;
import org.nd4j.linalg.dataset.api.preprocessor.serializer.NormalizerSerializer;
import org.nd4j.shade.jackson.databind.node.ObjectNode;

/** Files of normalizers: transformed features and labels. */
final class NormalizerCheck implements Check {
    @Override
    public void run(Case given, ObjectNode result) throws Exception {
        Normalizer<?> normalizer = NormalizerSerializer.getDefault().restore(given.file());
        result.put("loaded", true);
        MultiDataSet data = new MultiDataSet(given.arrays("inputs"), given.arrays("labels"));
        INDArray[] found;
        if (normalizer instanceof MultiDataNormalization) {
            ((MultiDataNormalization) normalizer).preProcess(data);
            found = data.getFeatures();
        } else {
            DataSet one = new DataSet(data.getFeatures(0), data.getLabels(0));
            ((DataNormalization) normalizer).preProcess(one);
            data = new MultiDataSet(one.getFeatures(), one.getLabels());
            found = data.getFeatures();
        }
        double apart = 0;
        INDArray[] wanted = given.arrays("outputs");
        INDArray[] labels = given.arrays("labelOutputs");
        for (int i = 0; i < wanted.length; i++) {
            apart = Math.max(apart, Case.difference(wanted[i], found[i]));
        }
        for (int i = 0; i < labels.length; i++) {
            apart = Math.max(apart, Case.difference(labels[i], data.getLabels(i)));
        }
        result.put("outputs", apart);
        NormalizerSerializer.getDefault().write(normalizer, given.saved(".normalizer"));
    }
}
