package service;

import service.codec.Codec;
import service.rules.Numbering;

/** Answers calls: every request is read, every reply is a new object. */
public final class Answers<Q, R> {
    private static final int NUMBERS = 1000;

    private final Operation<Q, R> operation;
    private final R sample;
    private final boolean numbersTexts;

    /** Copies replies from {@code sample}. */
    public Answers(Operation<Q, R> operation, R sample, boolean numbersTexts) {
        this.operation = operation;
        this.sample = sample;
        this.numbersTexts = numbersTexts;
    }

    /** Decodes the sample reply once. */
    public static <Q, R> Answers<Q, R> load(
            Operation<Q, R> operation, Codec codec, byte[] sample, boolean numbersTexts) throws Options.Bad {
        try {
            R decoded = operation.reply().cast(codec.read(sample, operation.reply()));
            return new Answers<>(operation, decoded, numbersTexts);
        } catch (Codec.Malformed error) {
            throw new Options.Bad("the sample reply does not decode: " + error.getMessage());
        }
    }

    /** The class of requests. */
    public Class<Q> request() {
        return operation.request();
    }

    /** The reply to one request. */
    public R answer(Q request) {
        int number = (int) Long.remainderUnsigned(operation.digest(request), NUMBERS);
        return operation.copy(sample, new Numbering(number, numbersTexts));
    }

    /** The reply to an object of the request's class. */
    public R answerObject(Object request) {
        return answer(operation.request().cast(request));
    }
}
