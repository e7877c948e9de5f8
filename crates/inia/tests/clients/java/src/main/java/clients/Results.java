package clients;

/** Prints results as scripts/suites reads them: one line for each check. */
final class Results {
    private Results() {}

    /** What a check does. */
    interface Check {
        void run() throws Exception;
    }

    static void ok(String name) {
        System.out.println("ok " + name.replace('\n', ' '));
    }

    static void check(String name, Check check) {
        try {
            check.run();
            ok(name);
        } catch (Exception | AssertionError error) {
            System.out.println("failed " + name);
            error.printStackTrace();
        }
    }

    static void equal(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
