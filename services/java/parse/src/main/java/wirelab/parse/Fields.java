package wirelab.parse;

/** What a decoded message holds, in the order of the contract. */
interface Fields {
    /** The next field. */
    void field(String name, int value);

    /** Adds the values up, which is how they are read while the time is taken. */
    final class Sum implements Fields {
        private long sum;

        @Override
        public void field(String name, int value) {
            sum += value;
        }

        /** The sum so far, and zero from now on. */
        long take() {
            long taken = sum;
            sum = 0;
            return taken;
        }
    }

    /** As elements of a fingerprint. */
    record Marked(Fingerprint fingerprint) implements Fields {
        @Override
        public void field(String name, int value) {
            fingerprint.start("", name);
            fingerprint.text(Integer.toString(value));
            fingerprint.end();
        }
    }
}
