//! Decodes what the soil sensors send by radio: nine bytes, big-endian, with a checksum.

/// One reading of one sensor.
#[derive(Debug, PartialEq)]
pub struct Reading {
    pub sensor: u16,
    pub moisture_percent: f32,
    pub soil_celsius: f32,
    pub battery_volts: f32,
}

/// Why a frame was thrown away.
#[derive(Debug, PartialEq)]
pub enum FrameError {
    Length(usize),
    Checksum { expected: u8, found: u8 },
}

/// Decodes a frame. A dead battery shows as nonsense, so everything under 2.1 V is to be distrusted by the caller.
pub fn decode_frame(frame: &[u8]) -> Result<Reading, FrameError> {
    let [body @ .., found] = frame else { return Err(FrameError::Length(0)) };
    if body.len() != 8 {
        return Err(FrameError::Length(frame.len()));
    }
    let expected = body.iter().fold(0x5A_u8, |sum, byte| sum.rotate_left(1) ^ byte);
    if expected != *found {
        return Err(FrameError::Checksum { expected, found: *found });
    }
    let word = |at: usize| u16::from_be_bytes([body[at], body[at + 1]]);
    Ok(Reading {
        sensor: word(0),
        moisture_percent: f32::from(word(2)) / 100.0,
        soil_celsius: (f32::from(word(4)) - 4_000.0) / 100.0,
        battery_volts: f32::from(word(6)) / 1_000.0,
    })
}
