//! The gRPC clients that tonic generates from the contracts, for the tests of the services.

#![allow(
    missing_docs,
    clippy::all,
    unused_qualifications,
    reason = "generated code"
)]

pub mod transfer {
    include!("generated/wirelab.transfer.v1.rs");
}

pub mod charging {
    include!("generated/wirelab.charging.v1.rs");
}

pub mod calendar {
    include!("generated/wirelab.calendar.v1.rs");
}

pub mod records {
    include!("generated/wirelab.records.v1.rs");
}

pub mod petclinic {
    include!("generated/wirelab.petclinic.v1.rs");
}
