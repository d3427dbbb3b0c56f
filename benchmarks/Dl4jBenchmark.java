import java.io.*;
import java.nio.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.deeplearning4j.nn.conf.*;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.*;
import org.deeplearning4j.nn.conf.layers.recurrent.LastTimeStep;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** A workload in DL4J. Arguments: task, kind, sizes, shape of x, shape of y, folder with the arrays; then asked by lines as measure.py does. */
public class Dl4jBenchmark {

    static long[] numbers(String text) {
        return Arrays.stream(text.split(",")).mapToLong(Long::parseLong).toArray();
    }

    static FloatBuffer floats(String folder, String name) throws IOException {
        return ByteBuffer.wrap(Files.readAllBytes(Paths.get(folder, name))).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    }

    static INDArray next(FloatBuffer from, long... shape) {
        float[] values = new float[(int) Arrays.stream(shape).reduce(1, (a, b) -> a * b)];
        from.get(values);
        return Nd4j.create(values, shape, 'c');
    }

    static Layer dense(long n) {
        return new DenseLayer.Builder().nOut((int) n).activation(Activation.RELU).build();
    }

    static Layer output(long n) {
        return new OutputLayer.Builder(LossFunction.MCXENT).nOut((int) n).activation(Activation.SOFTMAX).build();
    }

    static Layer convolution(int n) {
        return new ConvolutionLayer.Builder(5, 5).nOut(n).activation(Activation.RELU).build();
    }

    static Layer pool() {
        return new SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.MAX).kernelSize(2, 2).stride(2, 2).build();
    }

    static Layer lstm(long n) {
        return new LSTM.Builder().nOut((int) n).activation(Activation.TANH).build();
    }

    static List<Layer> layers(String task, long[] sizes) {
        int last = sizes.length - 1;
        List<Layer> made = new ArrayList<>();
        switch (task) {
            case "lenet":
                return Arrays.asList(convolution(20), pool(), convolution(50), pool(), dense(500), output(10));
            case "uci":
                return Arrays.asList(new LastTimeStep(lstm(sizes[1])), output(sizes[2]));
            case "char":
                for (int i = 1; i < last; i++)
                    made.add(lstm(sizes[i]));
                made.add(new RnnOutputLayer.Builder(LossFunction.MCXENT).nOut((int) sizes[last]).activation(Activation.SOFTMAX).build());
                return made;
            case "regular":
                for (int i = 1; i < last; i++) {
                    made.add(new DenseLayer.Builder().nOut((int) sizes[i]).activation(Activation.IDENTITY).build());
                    made.add(new BatchNormalization());
                    made.add(new ActivationLayer(Activation.RELU));
                    made.add(new DropoutLayer(0.5));
                }
                break;
            default:
                for (int i = 1; i < last; i++)
                    made.add(dense(sizes[i]));
        }
        made.add(output(sizes[last]));
        return made;
    }

    static MultiLayerNetwork network(String task, long[] sizes, String folder) throws IOException {
        InputType type = task.equals("lenet") ? InputType.convolutional(28, 28, 1)
            : task.equals("char") || task.equals("uci") ? InputType.recurrent(sizes[0]) : InputType.feedForward(sizes[0]);
        NeuralNetConfiguration.ListBuilder conf = new NeuralNetConfiguration.Builder().seed(1).updater(new Adam(1e-3)).list();
        for (Layer layer : layers(task, sizes))
            conf.layer(layer);
        MultiLayerNetwork net = new MultiLayerNetwork(conf.setInputType(type).build());
        net.init();
        List<String> order = Arrays.asList("W", "RW", "b");
        FloatBuffer weights = floats(folder, "weights");
        List<String> names = net.paramTable().keySet().stream().filter(n -> order.contains(n.split("_")[1]))
            .sorted(Comparator.comparingInt((String n) -> 10 * Integer.parseInt(n.split("_")[0]) + order.indexOf(n.split("_")[1])))
            .collect(Collectors.toList());
        for (String name : names)
            net.setParam(name, next(weights, net.getParam(name).shape()));
        return net;
    }

    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err);
        MultiLayerNetwork net = network(args[0], numbers(args[2]), args[5]);
        List<DataSet> data = new ArrayList<>();
        for (FloatBuffer all = floats(args[5], "batches"); all.hasRemaining();)
            data.add(new DataSet(next(all, numbers(args[3])), next(all, numbers(args[4]))));
        boolean train = args[1].equals("train");
        int turn = 0;
        answers.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("score")) {
                answers.println(net.score(data.get(0), false));
                continue;
            }
            for (int i = Integer.parseInt(line); i > 0; i--) {
                DataSet batch = data.get(turn++ % data.size());
                if (train)
                    net.fit(batch);
                else
                    net.output(batch.getFeatures());
            }
            answers.println("done");
        }
    }
}
