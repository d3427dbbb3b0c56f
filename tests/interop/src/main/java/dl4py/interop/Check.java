package dl4py.interop;

import org.nd4j.shade.jackson.databind.node.ObjectNode;

/** Opens the file of a case, compares, saves again. */
interface Check {
    void run(Case given, ObjectNode result) throws Exception;
}
