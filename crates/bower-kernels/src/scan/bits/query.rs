//! Quantises a query, makes its tables, and estimates scores by them.

/// The largest dimension: the sums of 4,096 dimensions at 14 still fit 16 bits.
pub const MAX_DIMENSION: usize = 4096;

/// The query's largest quantised value. Of the estimate's error the code makes most; 4 bits a dimension add 1-2%.
const LEVELS: f32 = 7.0;

/// Added to each table entry so that it is never negative: four dimensions at -7.
const OFFSET: i32 = 28;

/// A query ready to be scanned for.
#[derive(Clone, Debug)]
pub struct BitQuery {
    /// 32 bytes for each 8 dimensions: the table of the low four, the table of the high four.
    pub(super) tables: Vec<[u8; 32]>,
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) gamma: f32,
}

impl BitQuery {
    /// Quantises a centred and rotated query (its length a multiple of 8, at most 4,096); `gamma` is added to every estimate.
    pub fn new(residual: &[f32], gamma: f32) -> Self {
        assert!(
            residual.len().is_multiple_of(8) && residual.len() <= MAX_DIMENSION,
            "dimension out of range"
        );
        let largest = residual.iter().fold(0f32, |most, value| most.max(value.abs()));
        let step = if largest > 0.0 { largest / LEVELS } else { 1.0 };
        let mut sum = 0;
        let tables = residual
            .as_chunks::<8>()
            .0
            .iter()
            .map(|eight| {
                let levels = eight.map(|value| (value / step).round().clamp(-LEVELS, LEVELS) as i32);
                sum += levels.iter().sum::<i32>();
                let mut table = [0; 32];
                for (at, entry) in table.iter_mut().enumerate() {
                    let four = &levels[at / 16 * 4..][..4];
                    let chosen = (0..4).filter(|bit| at >> bit & 1 == 1).map(|bit| four[bit]).sum::<i32>();
                    *entry = (chosen + OFFSET) as u8;
                }
                table
            })
            .collect();
        // Signs times levels: twice the sum over set bits, less the sum over all; the tables' offset undone.
        let unset = OFFSET * (residual.len() / 4) as i32;
        Self { tables, alpha: 2.0 * step, beta: -step * (2 * unset + sum) as f32, gamma }
    }

    /// The dimension.
    pub fn dimension(&self) -> usize {
        self.tables.len() * 8
    }

    /// The score of a vector: its total of the tables, and its factors.
    #[inline]
    pub(super) fn estimate(&self, total: u16, a: f32, b: f32) -> f32 {
        a * (f32::from(total) * self.alpha + self.beta) + b + self.gamma
    }
}

/// A vector whose estimate is above the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Position of the vector: 64 times the block's number, plus its place there.
    pub position: u32,
    /// The estimated score.
    pub score: f32,
}
