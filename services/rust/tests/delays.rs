//! Delays are exact.

use std::time::Instant;

use serde_json::json;
use wirelab_contract::transfer::HelloRequest;

use crate::harness::{Service, block_on, grpc, rest};

/// Calls to each service.
const CALLS: usize = 9;

#[test]
#[ignore = "judges times: make test-rust-alone"]
fn delays_are_as_long_as_requested_and_reported_exactly() {
    for stack in [rest("json"), grpc()] {
        for us in [100, 1000, 5000] {
            let service = Service::start(&stack, json!({"faults": {"delay_us": us}}));
            let start = Instant::now();
            for _ in 0..CALLS {
                block_on(service.hello()).expect("a reply");
            }
            let waited = start.elapsed().as_secs_f64();
            let given = f64::from(us) / 1e6;
            let median = service.metric("wirelab_delay_seconds{quantile=\"0.5\"}");
            assert!(
                (given..given * 1.5 + 0.002).contains(&median),
                "{median} s for {given} s"
            );
            assert_eq!(service.metric("wirelab_delay_seconds_count"), 9.0);
            let sum = service.metric("wirelab_delay_seconds_sum");
            assert!(
                9.0 * given <= sum * 1.001 && sum <= waited,
                "{sum} of {waited} s"
            );
        }
    }
}

#[test]
fn only_the_operation_that_was_named_is_delayed() {
    let faults = json!({"delay_us": 50, "delay_operation": "HelloBytes"});
    let service = Service::start(&grpc(), json!({"faults": faults}));
    block_on(async {
        let mut client = service.client().await;
        let calls = client.hello(HelloRequest {}).await.is_ok();
        assert!(calls && client.hello_bytes(HelloRequest {}).await.is_ok());
    });
    assert_eq!(service.metric("wirelab_delay_seconds_count"), 1.0);
}
