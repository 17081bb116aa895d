package wirelab.service.contract;

import wirelab.service.Calls;

/**
 * One operation over one family of message classes: which class is asked, which answers, and how.
 * A binding needs nothing else to serve it.
 */
public record Exchange<Q, R>(String operation, Class<Q> request, Class<R> reply, Body<Q, R> body) {

    /** Makes a reply of a request. */
    @FunctionalInterface
    public interface Body<Q, R> {
        /** Throws the contract's own errors only. */
        R answer(Q request) throws ApplicationError;
    }

    /** Answers a message of class {@link #request} within a call that has begun. */
    public R answer(Calls.Call call, Object message) throws ApplicationError {
        try {
            return body.answer(request.cast(message));
        } catch (ApplicationError error) {
            call.failed();
            throw error;
        }
    }

    /** The operation as SOAP rpc and IDL write it: its first letter in lower case. */
    public String lowerName() {
        return Character.toLowerCase(operation.charAt(0)) + operation.substring(1);
    }
}
