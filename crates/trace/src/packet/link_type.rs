//! The numbers of link types and their names.
//!
//! Source: the registry of LINKTYPE values of tcpdump.org.

/// A number of the LINKTYPE registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback, address family in the byte order of the host.
    pub const NULL: LinkType = LinkType(0);
    /// Ethernet.
    pub const ETHERNET: LinkType = LinkType(1);
    /// Token ring.
    pub const IEEE802_5: LinkType = LinkType(6);
    /// PPP, with or without HDLC's address and control.
    pub const PPP: LinkType = LinkType(9);
    /// FDDI.
    pub const FDDI: LinkType = LinkType(10);
    /// PPP in HDLC (RFC 1662), or Cisco HDLC.
    pub const PPP_HDLC: LinkType = LinkType(50);
    /// PPPoE session packets without Ethernet.
    pub const PPP_ETHER: LinkType = LinkType(51);
    /// ATM with LLC (RFC 1483).
    pub const ATM_RFC1483: LinkType = LinkType(100);
    /// An IP packet alone.
    pub const RAW: LinkType = LinkType(101);
    /// Cisco HDLC.
    pub const C_HDLC: LinkType = LinkType(104);
    /// 802.11 without a header of the radio.
    pub const IEEE802_11: LinkType = LinkType(105);
    /// Frame relay.
    pub const FRAME_RELAY: LinkType = LinkType(107);
    /// OpenBSD loopback, address family in network byte order.
    pub const LOOP: LinkType = LinkType(108);
    /// OpenBSD's IPsec interface.
    pub const ENC: LinkType = LinkType(109);
    /// Linux cooked capture.
    pub const LINUX_SLL: LinkType = LinkType(113);
    /// OpenBSD's packet filter log.
    pub const PFLOG: LinkType = LinkType(117);
    /// 802.11 behind a Prism header.
    pub const IEEE802_11_PRISM: LinkType = LinkType(119);
    /// 802.11 behind a radiotap header.
    pub const IEEE802_11_RADIOTAP: LinkType = LinkType(127);
    /// 802.11 behind an AVS header.
    pub const IEEE802_11_AVS: LinkType = LinkType(163);
    /// PPP of pppd, with the direction in the place of HDLC's address.
    pub const PPP_PPPD: LinkType = LinkType(166);
    /// A header that names another link type.
    pub const PPI: LinkType = LinkType(192);
    /// Endace's extensible record format.
    pub const ERF: LinkType = LinkType(197);
    /// PPP behind a byte for the direction.
    pub const PPP_WITH_DIRECTION: LinkType = LinkType(204);
    /// MPLS alone.
    pub const MPLS: LinkType = LinkType(219);
    /// An IPv4 packet alone.
    pub const IPV4: LinkType = LinkType(228);
    /// An IPv6 packet alone.
    pub const IPV6: LinkType = LinkType(229);
    /// Linux netfilter log.
    pub const NFLOG: LinkType = LinkType(239);
    /// Ethernet behind the header of a Hilscher netANALYZER.
    pub const NETANALYZER: LinkType = LinkType(240);
    /// Darwin's header that names another link type.
    pub const PKTAP: LinkType = LinkType(258);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: LinkType = LinkType(276);
    /// What some BSDs write for raw IP (DLT_RAW).
    pub(super) const RAW_BSD: [LinkType; 2] = [LinkType(12), LinkType(14)];

    /// Its name, or its number in words.
    pub fn name(self) -> String {
        if (147..=162).contains(&self.0) {
            return format!("user{}", self.0 - 147);
        }
        match NAMES.binary_search_by_key(&self.0, |(number, _)| *number) {
            Ok(place) => NAMES[place].1.to_owned(),
            Err(_) => format!("linktype-{}", self.0),
        }
    }
}

/// By number.
const NAMES: [(u16, &str); 97] = [
    (0, "null"),
    (1, "ethernet"),
    (3, "ax25"),
    (6, "token-ring"),
    (7, "arcnet"),
    (8, "slip"),
    (9, "ppp"),
    (10, "fddi"),
    (12, "raw"),
    (14, "raw"),
    (50, "ppp-hdlc"),
    (51, "pppoe"),
    (99, "symantec-firewall"),
    (100, "atm-rfc1483"),
    (101, "raw"),
    (104, "cisco-hdlc"),
    (105, "ieee802.11"),
    (107, "frame-relay"),
    (108, "loop"),
    (109, "enc"),
    (113, "linux-sll"),
    (114, "localtalk"),
    (117, "pflog"),
    (118, "cisco-ios"),
    (119, "ieee802.11-prism"),
    (122, "ip-over-fc"),
    (123, "sunatm"),
    (127, "ieee802.11-radiotap"),
    (129, "arcnet-linux"),
    (138, "apple-ip-over-ieee1394"),
    (139, "mtp2-with-phdr"),
    (140, "mtp2"),
    (141, "mtp3"),
    (142, "sccp"),
    (143, "docsis"),
    (144, "linux-irda"),
    (163, "ieee802.11-avs"),
    (164, "juniper-monitor"),
    (165, "bacnet-ms-tp"),
    (166, "ppp-pppd"),
    (169, "gprs-llc"),
    (170, "gpf-t"),
    (171, "gpf-f"),
    (177, "linux-lapd"),
    (178, "juniper-ether"),
    (182, "juniper-mfr"),
    (187, "bluetooth-hci-h4"),
    (189, "usb-linux"),
    (192, "ppi"),
    (195, "ieee802.15.4"),
    (196, "sita"),
    (197, "erf"),
    (201, "bluetooth-hci-h4-with-phdr"),
    (202, "ax25-kiss"),
    (203, "lapd"),
    (204, "ppp-with-direction"),
    (205, "cisco-hdlc-with-direction"),
    (206, "frame-relay-with-direction"),
    (209, "ipmb-linux"),
    (210, "flexray"),
    (212, "lin"),
    (215, "ieee802.15.4-nonask-phy"),
    (219, "mpls"),
    (220, "usb-linux-mmapped"),
    (224, "fc-2"),
    (225, "fc-2-with-frame-delimiters"),
    (226, "ipnet"),
    (227, "can-socketcan"),
    (228, "ipv4"),
    (229, "ipv6"),
    (230, "ieee802.15.4-nofcs"),
    (231, "dbus"),
    (235, "dvb-ci"),
    (236, "mux27010"),
    (237, "stanag-5066"),
    (239, "nflog"),
    (240, "netanalyzer"),
    (241, "netanalyzer-transparent"),
    (242, "ip-over-infiniband"),
    (243, "mpeg-2-ts"),
    (245, "nfc-llcp"),
    (247, "infiniband"),
    (248, "sctp"),
    (249, "usbpcap"),
    (251, "bluetooth-le"),
    (252, "wireshark-upper-pdu"),
    (253, "netlink"),
    (254, "bluetooth-linux-monitor"),
    (258, "pktap"),
    (266, "usb-darwin"),
    (271, "vsock"),
    (276, "linux-sll2"),
    (281, "dsa-brcm"),
    (282, "dsa-brcm-prepend"),
    (283, "ieee802.15.4-tap"),
    (284, "dsa"),
    (285, "dsa-edsa"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_number() {
        assert!(NAMES.is_sorted_by(|(one, _), (other, _)| one < other));
        let names = [1, 12, 147, 162, 163, 276, 999].map(|number| LinkType(number).name());
        assert_eq!(
            names,
            [
                "ethernet",
                "raw",
                "user0",
                "user15",
                "ieee802.11-avs",
                "linux-sll2",
                "linktype-999"
            ]
        );
    }
}
