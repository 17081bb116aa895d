package wirelab.service.iiop;

import java.util.function.Function;
import org.omg.CORBA.UserException;
import wirelab.service.Calls;
import wirelab.service.contract.ApplicationError;

/** Accounts for a servant's calls and turns the contract's errors into its IDL exception. */
record Answering<E extends UserException>(Calls calls, Function<String, E> exception) {

    /** What an operation does. */
    @FunctionalInterface
    interface Body<R> {
        R answer() throws ApplicationError;
    }

    <R> R answer(String operation, Body<R> body) throws E {
        try (Calls.Call call = calls.tally(operation).begin()) {
            try {
                return body.answer();
            } catch (ApplicationError error) {
                call.failed();
                throw exception.apply(error.getMessage());
            }
        }
    }
}
