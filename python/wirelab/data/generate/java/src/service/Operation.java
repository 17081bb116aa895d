package service;

import service.rules.Numbering;

/** The operation of the contract, over messages of one kind of classes. */
public interface Operation<Q, R> {
    /** The request's class. */
    Class<Q> request();

    /** The reply's class. */
    Class<R> reply();

    /** Reads every field of a request. */
    long digest(Q request);

    /** A new reply, which is the sample with its numbers. */
    R copy(R sample, Numbering numbering);
}
