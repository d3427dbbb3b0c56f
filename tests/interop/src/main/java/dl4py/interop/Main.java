package dl4py.interop;

import java.io.File;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import org.nd4j.shade.jackson.databind.JsonNode;
import org.nd4j.shade.jackson.databind.ObjectMapper;
import org.nd4j.shade.jackson.databind.node.ObjectNode;

/**
 * Opens what Python wrote: <code>Main IN OUT</code>, where IN holds manifest.json and the files that it names.
 *
 * <p>OUT gets results.jsonl, a line when a case starts and one with what was found, so that a case which ends the whole process can
 * be told; and for each case what DL4J saved itself.
 */
public final class Main {
    private static final Map<String, Check> CHECKS = Map.of(
            "list", new NetworkCheck(), "graph", new NetworkCheck(), "samediff", new SameDiffCheck(),
            "normalizer", new NormalizerCheck(), "array", new ArrayCheck());

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        File in = new File(args[0]);
        File out = new File(args[1]);
        ObjectMapper json = new ObjectMapper();
        JsonNode cases = json.readTree(new File(in, "manifest.json"));
        try (PrintWriter log = new PrintWriter(new File(out, "results.jsonl"), StandardCharsets.UTF_8)) {
            for (JsonNode one : cases) {
                ObjectNode result = json.createObjectNode();
                result.put("name", one.get("name").asText());
                log.println(json.writeValueAsString(result));
                log.flush();
                try {
                    CHECKS.get(one.get("kind").asText()).run(new Case(one, in, out), result);
                } catch (Throwable e) {         // a case that fails must not keep the others from running
                    result.put("error", chain(e));
                }
                result.put("done", true);
                log.println(json.writeValueAsString(result));
                log.flush();
            }
        }
    }

    private static String chain(Throwable error) {
        StringBuilder text = new StringBuilder();
        for (Throwable e = error; e != null && text.length() < 2000; e = e.getCause()) {
            text.append(text.length() == 0 ? "" : "; because of ").append(e);
        }
        for (StackTraceElement line : error.getStackTrace()) {
            if (text.length() > 3000) {
                break;
            }
            text.append("\n    at ").append(line);
        }
        return text.toString();
    }
}
