package wirelab.caller;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/** The operations of a contract on a stub {@code S}, which a library's compiler generated. */
public final class Methods<S> {
    /** Makes a call by a stub. */
    public interface Invocation<S, Q, A> {
        /** Returns the reply as the library has it. */
        A invoke(S stub, Q request) throws Exception;
    }

    /** Converts a request or a reply. */
    private record Method<S, Q, A>(
            Function<Object, Q> request, Invocation<S, Q, A> invocation, Function<A, Object> reply) {
        Object call(S stub, Call call, Stamps at, Consumer<Stamps> before) throws Exception {
            Q ask = call.prepare(request);
            before.accept(at);
            A answer = invocation.invoke(stub, ask);
            at.done();
            try {
                return reply.apply(answer);
            } catch (RuntimeException error) {
                throw Failure.wrong("the reply cannot be read: " + error);
            }
        }
    }

    private final Map<String, Method<S, ?, ?>> methods = new HashMap<>();
    private final Consumer<Stamps> before;

    /** {@code before} is called when a stub is about to be. */
    public Methods(Consumer<Stamps> before) {
        this.before = before;
    }

    /** Adds an operation whose request is a message of the contract, and of the library. */
    public <C, Q, A> Methods<S> with(
            String operation, Class<C> message, Function<C, Q> request, Invocation<S, Q, A> invocation,
            Function<A, Object> reply) {
        Function<Object, Q> form = of -> request.apply(message.cast(of));
        methods.put(operation, new Method<>(form, invocation, reply));
        return this;
    }

    /** Adds an operation whose stub takes the fields of a request one by one. */
    public <C, A> Methods<S> with(
            String operation, Class<C> message, Invocation<S, C, A> invocation, Function<A, Object> reply) {
        return with(operation, message, Function.identity(), invocation, reply);
    }

    /** The operations that were added. */
    public Set<String> operations() {
        return methods.keySet();
    }

    /** Makes a call, stamps it and returns the reply as a message of the contract. */
    public Object call(S stub, Call call, Stamps at) throws Exception {
        return methods.get(call.operation()).call(stub, call, at, before);
    }
}
