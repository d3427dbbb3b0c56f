package dl4py.interop;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.shade.jackson.databind.JsonNode;

/** One entry of the manifest, and the arrays that belong to it. */
final class Case {
    final JsonNode json;
    private final File in;
    private final File out;

    Case(JsonNode json, File in, File out) {
        this.json = json;
        this.in = in;
        this.out = out;
    }

    boolean has(String name) {
        return json.hasNonNull(name);
    }

    String text(String name) {
        return json.get(name).asText();
    }

    File file() {
        return new File(in, text("file"));
    }

    /** The place of what is saved here. */
    File saved(String ending) {
        return new File(out, text("id") + ending);
    }

    INDArray array(String file) throws IOException {
        try (DataInputStream stream = new DataInputStream(new BufferedInputStream(new FileInputStream(new File(in, file))))) {
            return Nd4j.read(stream);
        }
    }

    /** The arrays of a list of files; null when there is none. */
    INDArray[] arrays(String name) throws IOException {
        if (!has(name)) {
            return null;
        }
        List<INDArray> found = new ArrayList<>();
        for (JsonNode file : json.get(name)) {
            found.add(file.isNull() ? null : array(file.asText()));
        }
        return found.toArray(new INDArray[0]);
    }

    Map<String, INDArray> named(String name) throws IOException {
        Map<String, INDArray> found = new LinkedHashMap<>();
        if (has(name)) {
            for (Iterator<Map.Entry<String, JsonNode>> it = json.get(name).fields(); it.hasNext();) {
                Map.Entry<String, JsonNode> entry = it.next();
                found.put(entry.getKey(), array(entry.getValue().asText()));
            }
        }
        return found;
    }

    void write(String ending, INDArray array) throws IOException {
        try (DataOutputStream stream = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(saved(ending))))) {
            Nd4j.write(array, stream);
        }
    }

    /** Largest difference relative to the largest entry (at least 1); infinite where shapes or types differ. */
    static double difference(INDArray want, INDArray got) {
        if (got == null || !Arrays.equals(want.shape(), got.shape()) || want.dataType() != got.dataType()) {
            return Double.POSITIVE_INFINITY;
        }
        if (want.isEmpty()) {
            return 0;
        }
        double[] a = flat(want);
        double[] b = flat(got);
        double largest = 1;
        double apart = 0;
        for (int i = 0; i < a.length; i++) {
            if (Double.compare(a[i], b[i]) == 0) {      // equal infinities and NaN
                continue;
            }
            double d = Math.abs(a[i] - b[i]);
            apart = Double.isNaN(d) ? Double.POSITIVE_INFINITY : Math.max(apart, d);
            largest = Math.max(largest, Double.isInfinite(a[i]) ? 1 : Math.abs(a[i]));
        }
        for (double v : a) {
            largest = Double.isInfinite(v) || Double.isNaN(v) ? largest : Math.max(largest, Math.abs(v));
        }
        return apart / largest;
    }

    static String shown(INDArray array) {
        return array == null ? "nothing" : array.dataType() + Arrays.toString(array.shape());
    }

    private static double[] flat(INDArray array) {
        return array.dup('c').castTo(DataType.DOUBLE).reshape('c', new long[] {array.length()}).toDoubleVector();
    }
}
