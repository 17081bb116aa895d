//! What each proxy of the axis `via` can do, and the rules that follow: a value that a proxy
//! lacks is refused by name.

use crate::rule::{Condition, Rule, belongs, is, not, rule};

/// One proxy.
struct Proxy {
    name: &'static str,
    /// Values of `via_upstream` that it has with rest and soap.
    upstream: &'static [&'static str],
    /// Why it has no others.
    because: &'static str,
}

const PROXIES: &[Proxy] = &[
    Proxy {
        name: "nginx",
        upstream: &["same", "http/1.1", "http/1.0"],
        because: "nginx speaks HTTP/2 to an upstream with gRPC only (grpc_pass): proxy_pass has \
                  HTTP/1.0 and HTTP/1.1",
    },
    Proxy {
        name: "haproxy",
        upstream: &["same", "http/1.1", "http/2"],
        because: "haproxy has no switch that turns a request into HTTP/1.0",
    },
    Proxy {
        name: "caddy",
        upstream: &["http/1.1", "same", "http/2"],
        because: "caddy speaks HTTP/1.1 and HTTP/2 to an upstream, not HTTP/1.0",
    },
];

/// Axes of a proxy.
const OF_PROXIES: [&str; 3] = ["via_upstream", "via_buffering", "via_keepalive"];

fn read_condition() -> Condition {
    not("via", &["none"])
}

pub(crate) fn of_proxies() -> Vec<Rule> {
    [of_protocols(), of_services(), of_upstreams(), of_switches()].concat()
}

/// What a proxy of HTTP can carry.
fn of_protocols() -> Vec<Rule> {
    vec![
        rule(
            [read_condition(), is("binding", &["iiop", "raw"])],
            "these are proxies of HTTP, which iiop and raw do without",
            ("via", "none"),
        ),
        rule(
            [is("http_cache", &["proxy"]), not("via", &["nginx"])],
            "the cache is that of nginx, between caller and service",
            ("via", "nginx"),
        ),
        rule(
            [is("http_cache", &["proxy"]), not("via_buffering", &["on"])],
            "nginx keeps only replies that it may collect",
            ("via_buffering", "on"),
        ),
        rule(
            [read_condition(), not("socket", &["tcp"])],
            "the lab puts a proxy between two addresses and ports",
            ("socket", "tcp"),
        ),
        rule(
            [read_condition(), not("security", &["none"])],
            "the lab hands a proxy no certificates",
            ("security", "none"),
        ),
    ]
}

/// Axes of a service that do not reach the caller through a proxy, and axes of a proxy where
/// there is none.
fn of_services() -> Vec<Rule> {
    let framed = ["end_of_message", "close_delay"].map(|axis| {
        belongs(
            axis,
            &[read_condition()],
            format!(
                "a proxy ends replies and connections its own way, so that {axis} has no effect"
            ),
        )
    });
    let none = is("via", &["none"]);
    let alone = OF_PROXIES.map(|axis| {
        belongs(
            axis,
            std::slice::from_ref(&none),
            format!("{axis} is of a proxy: name one, as in via=nginx"),
        )
    });
    [framed.to_vec(), alone.to_vec()].concat()
}

/// Versions of HTTP between a proxy and the service.
fn of_upstreams() -> Vec<Rule> {
    let mut rules = vec![rule(
        [
            read_condition(),
            is("binding", &["grpc"]),
            not("via_upstream", &["same", "http/2"]),
        ],
        "gRPC is defined over HTTP/2 only",
        ("via_upstream", "same"),
    )];
    rules.push(rule(
        [
            read_condition(),
            is("binding", &["websocket"]),
            not("via_upstream", &["same", "http/1.1"]),
        ],
        "WebSocket begins with HTTP/1.1 here (RFC 6455), not with HTTP/2 (RFC 8441)",
        ("via_upstream", "http/1.1"),
    ));
    for proxy in PROXIES {
        let this = is("via", &[proxy.name]);
        let web = not("binding", &["grpc"]);
        rules.push(rule(
            [
                this.clone(),
                web.clone(),
                not("via_upstream", proxy.upstream),
            ],
            proxy.because,
            ("via_upstream", proxy.upstream[0]),
        ));
        // `same` is the caller's version, which the proxy may lack on its other side.
        let lacking: Vec<&'static str> = ["http/1.0", "http/2"]
            .into_iter()
            .filter(|version| !proxy.upstream.contains(version))
            .collect();
        // haproxy forwards the caller's version of HTTP/1.x as it is.
        if proxy.name != "haproxy" {
            rules.push(rule(
                [
                    this.clone(),
                    web,
                    is("via_upstream", &["same"]),
                    is("transport", &lacking),
                ],
                proxy.because,
                ("via_upstream", "http/1.1"),
            ));
        }
    }
    rules.push(rule(
        [
            is("via", &["haproxy"]),
            is("transport", &["http/1.0"]),
            is("via_upstream", &["http/1.1"]),
        ],
        "haproxy forwards the caller's version of HTTP/1.x, and has no switch for it",
        ("via_upstream", "same"),
    ));
    rules.push(belongs(
        "server.h2_window",
        &[
            read_condition(),
            is("via_upstream", &["http/1.0", "http/1.1"]),
        ],
        "the service is spoken to by HTTP/1.x, which has no flow-control window of its own",
    ));
    rules
}

/// Switches that some proxies lack.
fn of_switches() -> Vec<Rule> {
    let ends = "HTTP/1.0 ends every connection after its reply (RFC 1945 section 1.3), also one \
                of a proxy";
    let kept = is("via_keepalive", &["on"]);
    let off = ("via_keepalive", "off");
    let mut rules = vec![
        rule(
            [
                read_condition(),
                is("via_upstream", &["http/1.0"]),
                kept.clone(),
            ],
            ends,
            off,
        ),
        rule(
            [
                read_condition(),
                is("via_upstream", &["same"]),
                is("transport", &["http/1.0"]),
                kept,
            ],
            ends,
            off,
        ),
        belongs(
            "via_buffering",
            &[is("via", &["haproxy"])],
            "haproxy has no switch for the buffering of replies: it forwards what has arrived",
        ),
        belongs(
            "via_buffering",
            &[read_condition(), is("binding", &["websocket"])],
            "a proxy forwards the messages of an upgraded connection as they come",
        ),
        belongs(
            "via_keepalive",
            &[read_condition(), is("binding", &["websocket"])],
            "an upgraded connection belongs to one caller on both sides of a proxy",
        ),
        belongs(
            "via_buffering",
            &[is("via", &["nginx"]), is("binding", &["grpc"])],
            "nginx has no switch for the buffering of gRPC replies: grpc_pass forwards what has \
             arrived",
        ),
    ];
    // Measured: haproxy 2.6.12 keeps them with `pool-max-conn 0` and `http-reuse never`. Caddy's
    // transport of h2c has no place for `keepalive`.
    for via in ["haproxy", "caddy"] {
        let reason = format!(
            "{via} has no switch that ends its HTTP/2 connections to an upstream after a call"
        );
        let this = is("via", &[via]);
        let named = vec![this.clone(), is("via_upstream", &["http/2"])];
        let same = vec![
            this,
            is("via_upstream", &["same"]),
            is("transport", &["http/2"]),
        ];
        rules.extend([named, same].map(|there| belongs("via_keepalive", &there, reason.clone())));
    }
    rules
}

#[cfg(test)]
mod tests {
    use crate::axis_map::AxisMap;
    use crate::bindings::Binding;
    use crate::rules::first_broken;

    fn refusal(
        binding: Binding,
        axes: &[(&str, &str)],
    ) -> Option<(String, (&'static str, &'static str))> {
        let mut map = AxisMap::new(binding);
        for (axis, value) in axes {
            map.set(axis, value).expect("a value of the table");
        }
        first_broken(&map).map(|rule| (rule.reason.clone(), rule.repair))
    }

    #[test]
    fn every_proxy_carries_rest_and_grpc() {
        for via in ["nginx", "haproxy", "caddy"] {
            for binding in [Binding::Rest, Binding::Soap, Binding::Grpc] {
                assert_eq!(refusal(binding, &[("via", via)]), None, "{binding} {via}");
            }
        }
    }

    #[test]
    fn what_a_proxy_lacks_is_refused_by_its_name() {
        let h2 = [("via", "nginx"), ("transport", "http/2")];
        let (reason, repair) = refusal(Binding::Rest, &h2).expect("no HTTP/2 upstream");
        assert!(reason.starts_with("nginx speaks HTTP/2"), "{reason}");
        assert_eq!(repair, ("via_upstream", "http/1.1"));
        let (reason, repair) = refusal(
            Binding::Rest,
            &[("via", "haproxy"), ("via_buffering", "off")],
        )
        .expect("no switch");
        assert!(reason.starts_with("haproxy has no switch"), "{reason}");
        assert_eq!(repair, ("via_buffering", "on"));
        let (reason, _) = refusal(Binding::Grpc, &[("via", "nginx"), ("via_buffering", "off")])
            .expect("no switch");
        assert!(reason.contains("grpc_pass"), "{reason}");
        let old = [
            ("via", "caddy"),
            ("via_upstream", "http/1.0"),
            ("via_keepalive", "off"),
        ];
        let (reason, _) = refusal(Binding::Rest, &old).expect("no HTTP/1.0");
        assert!(reason.starts_with("caddy speaks"), "{reason}");
    }

    #[test]
    fn axes_of_a_proxy_need_one() {
        for (axis, value) in [
            ("via_upstream", "http/1.0"),
            ("via_buffering", "off"),
            ("via_keepalive", "off"),
        ] {
            let (reason, _) = refusal(Binding::Rest, &[(axis, value)]).expect("no proxy");
            assert!(reason.contains("name one"), "{reason}");
        }
        assert!(refusal(Binding::Raw, &[("via", "nginx")]).is_some());
    }
}
