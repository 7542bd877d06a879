//! Decides which network addresses belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is globally reachable, by the IANA special-purpose registries (RFC 6890 and its updates).
pub(super) fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match a {
        // This network, private, loopback; multicast, reserved and broadcast.
        0 | 10 | 127 | 224..=255 => true,
        // Shared by customers of one provider (RFC 6598).
        100 => b & 0xC0 == 64,
        169 => b == 254,
        172 => b & 0xF0 == 16,
        // Private; protocol assignments; documentation; the former 6to4 relay; AS112 and AMT are global.
        192 => b == 168 || (b == 0 && (c == 0 || c == 2)) || (b == 88 && c == 99),
        // Benchmarking, documentation.
        198 => b & 0xFE == 18 || (b == 51 && c == 100),
        203 => b == 0 && c == 113,
        _ => false,
    };
    !is_special
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_global_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // An IPv4 address in another form is as reachable as that: mapped, translated (RFC 6052), 6to4.
        [0, 0, 0, 0, 0, 0xFFFF, high, low]
        | [0x64, 0xFF9B, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        // Protocol assignments with Teredo and ORCHID; documentation.
        [0x2001, second, ..] if second < 0x200 || second == 0xDB8 => false,
        [0x3FFF, second, ..] if second < 0x1000 => false,
        // Only global unicast is assigned to networks: no loopback, link-local, unique local or multicast address.
        [first, ..] => first & 0xE000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_global() {
        let check = |expected: bool, addresses: &[&str]| {
            for address in addresses {
                assert_eq!(is_global(address.parse().unwrap()), expected, "{address}");
            }
        };
        check(
            true,
            &["1.1.1.1", "8.8.8.8", "100.63.0.1", "172.32.0.1", "192.0.1.1", "198.20.0.1", "223.255.255.255"],
        );
        check(
            true,
            &["2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
        );
        check(
            false,
            &[
                "0.0.0.0",
                "10.0.0.1",
                "100.64.0.1",
                "127.0.0.1",
                "169.254.169.254",
                "172.16.0.1",
                "192.168.1.1",
            ],
        );
        check(
            false,
            &[
                "192.0.0.8",
                "192.0.2.1",
                "198.18.0.1",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "255.255.255.255",
            ],
        );
        check(
            false,
            &["::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "2001::1", "3fff::1"],
        );
        check(
            false,
            &["::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "::127.0.0.1", "fec0::1", "100::1"],
        );
    }
}
