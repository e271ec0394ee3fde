//! Is an address on the public internet, and if not, what is it?
//!
//! The tables follow the registries of special-purpose addresses (RFC 6890 and its updates). An IPv6
//! address that carries an IPv4 one is judged by that one. Other IPv6 addresses must lie in 2000::/3,
//! the only range given out so far.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Refused ranges of IPv4: network, length of its prefix, what it is.
const SPECIAL_V4: [(Ipv4Addr, u32, &str); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this machine"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private address"),
    (
        Ipv4Addr::new(100, 64, 0, 0),
        10,
        "a carrier's private address",
    ),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "a loopback address"),
    (
        Ipv4Addr::new(168, 63, 129, 16),
        32,
        "a cloud's metadata service",
    ),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local address"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private address"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "a reserved address"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "a documentation address"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay address"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private address"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "a benchmark address"),
    (
        Ipv4Addr::new(198, 51, 100, 0),
        24,
        "a documentation address",
    ),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "a documentation address"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast address"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved address"),
];

/// Refused ranges of IPv6: the first 128 bits, length of the prefix, what it is. The last ones lie
/// in 2000::/3.
const SPECIAL_V6: [(Ipv6Addr, u32, &str); 10] = [
    (Ipv6Addr::UNSPECIFIED, 128, "this machine"),
    (Ipv6Addr::LOCALHOST, 128, "a loopback address"),
    // Its prefixes differ from network to network, so that no IPv4 address can be read off.
    (v6(0x64, 0xff9b, 1), 48, "a local translation address"),
    (v6(0x100, 0, 0), 64, "a discard address"),
    (v6(0xfc00, 0, 0), 7, "a private address"),
    (v6(0xfe80, 0, 0), 10, "a link-local address"),
    (v6(0xfec0, 0, 0), 10, "a site-local address"),
    (v6(0xff00, 0, 0), 8, "a multicast address"),
    (v6(0x2001, 0xdb8, 0), 32, "a documentation address"),
    (v6(0x3fff, 0, 0), 20, "a documentation address"),
];

const fn v6(first: u16, second: u16, third: u16) -> Ipv6Addr {
    Ipv6Addr::new(first, second, third, 0, 0, 0, 0, 0)
}

/// What an address is when it is not globally routable, in words that follow "is"; `None` when it
/// is on the public internet.
pub(super) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    SPECIAL_V4
        .iter()
        .find(|(network, length, _)| {
            let mask = u32::MAX << (32 - length);
            address.to_bits() & mask == network.to_bits()
        })
        .map(|(_, _, kind)| *kind)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    if let Some((_, _, kind)) = SPECIAL_V6.iter().find(|(network, length, _)| {
        let mask = u128::MAX << (128 - length);
        bits & mask == network.to_bits()
    }) {
        return Some(kind);
    }
    if let Some(carried) = carried_v4(address) {
        return carried.into_iter().find_map(not_public_v4);
    }
    match address.segments() {
        // 2001::/23 is the IETF's own, but for what was looked at above.
        [0x2001, 0..0x200, ..] => Some("a reserved address"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("a reserved address"),
    }
}

/// The IPv4 addresses within an IPv6 address, for the ranges that carry them.
fn carried_v4(address: Ipv6Addr) -> Option<Vec<Ipv4Addr>> {
    let joined = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // Mapped (RFC 4291) and translated by the well-known prefix (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(vec![joined(high, low)])
        }
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => Some(vec![joined(high, low)]),
        // Teredo (RFC 4380): the server, and the client with all bits turned.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            Some(vec![joined(server_high, server_low), joined(!high, !low)])
        }
        _ => None,
    }
}

/// Whether a name stands for this machine or its network, whatever it resolves to. Case and a dot
/// at the end do not matter.
pub(super) fn is_local_name(host: &str) -> bool {
    const NAMES: [&str; 3] = ["localhost", "metadata", "instance-data"];
    const SUFFIXES: [&str; 5] = [
        ".localhost",
        ".local",
        ".internal",
        ".localdomain",
        ".home.arpa",
    ];
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    NAMES.contains(&host.as_str())
        || SUFFIXES
            .iter()
            .any(|suffix| host.ends_with(suffix) || host == suffix.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::{is_local_name, not_public};

    #[test]
    fn special_addresses_are_known_at_both_ends_of_their_ranges() {
        let refused = [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.0.0",
            "169.254.169.254",
            "169.254.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.255",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:0.0.0.0",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "feff::1",
            "ff02::1",
            "2001:db8::1",
            "3fff::1",
            "3fff:fff::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2002:c0a8:1::1",
            // Teredo with a private server, and with a loopback client.
            "2001:0:a00:1:0:0:f7f7:f7f7",
            "2001:0:4136:e378:8000:63bf:80ff:fffe",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff::1",
            "4000::1",
            "5f00::1",
            "1000::1",
            "64:ff9c::1",
            "64:ff9b:0:1::8.8.8.8",
        ];
        for text in refused {
            assert!(not_public(text.parse().unwrap()).is_some(), "{text}");
        }
    }

    #[test]
    fn public_addresses_are_let_through() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001::200e",
            "2001:4860::8888",
            "2001:200::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            // Teredo with a public server and a public client.
            "2001:0:4136:e378:8000:63bf:f7f7:f7f7",
            "3ffe::1",
            "3fff:1000::1",
        ];
        for text in public {
            assert_eq!(not_public(text.parse().unwrap()), None, "{text}");
        }
    }

    #[test]
    fn local_names_are_known_whatever_their_case_and_end() {
        for name in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "printer.local",
            "Metadata.Google.Internal",
            "x.internal.",
            "metadata",
            "router.home.arpa",
            "internal",
            "local",
        ] {
            assert!(is_local_name(name), "{name}");
        }
        for name in [
            "localhost.evil.test",
            "notlocalhost",
            "local.test",
            "example.com",
        ] {
            assert!(!is_local_name(name), "{name}");
        }
    }
}
