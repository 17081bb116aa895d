package wirelab.caller.soap;

import wirelab.caller.Call;
import wirelab.caller.Methods;
import wirelab.caller.Stamps;
import wirelab.caller.Target;

/** An interface that CXF's wsdl2java made of the contract's WSDL, with its operations. */
record Stub<S>(Class<S> type, Methods<S> methods) {
    /** Of the contract and the style of a plan. */
    static Stub<?> of(Target target) {
        boolean isRpc = target.axis("codec", "soap-literal").equals("soap-rpc");
        return isRpc ? RpcStubs.of(target.contract()) : LiteralStubs.of(target.contract());
    }

    Object call(Object proxy, Call call, Stamps at) throws Exception {
        return methods.call(type.cast(proxy), call, at);
    }
}
