//! The gRPC clients that tonic generates from the contracts, for the tests of the services.

#![allow(
    missing_docs,
    clippy::all,
    unused_qualifications,
    reason = "generated code"
)]

pub mod transfer {
    tonic::include_proto!("wirelab.transfer.v1");
}

pub mod charging {
    tonic::include_proto!("wirelab.charging.v1");
}

pub mod calendar {
    tonic::include_proto!("wirelab.calendar.v1");
}

pub mod records {
    tonic::include_proto!("wirelab.records.v1");
}

pub mod petclinic {
    tonic::include_proto!("wirelab.petclinic.v1");
}
