//! The segment layout of vectors.
//! Codes depend on int8 values alone, so a merged segment equals one written at once.
//!
//! ```text
//! int8     rows x stride       values + 128, padded to 64
//! scales   rows x f32
//! ids      rows x u32          ascending
//! centre   dimension x f32     rotated mean          } from 10,000 rows on
//! clusters                     see clusters.rs; from 200,000 rows on
//! blocks   64 vectors each     see bower_kernels::scan::bits; by position, or in the order of the clusters
//! footer   64 bytes            magic, format, dimension, rows
//! ```

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::slice::ChunksExact;
use std::sync::atomic::AtomicBool;

use bower_kernels::Isa;
use bower_kernels::scan::rotate::Rotation;
use bower_kernels::scan::{bits, bytes};

use super::clusters::{self, Assigner, Clustering, Clusters, Gathering};
use super::quantise::{Coder, quantise, restore};
use crate::error::{Error, Result};
use crate::generation::{self, SectionOffsets, SegmentFile, SegmentFormat, SegmentWriter};
use crate::item::RowId;

/// Dimensions that an index accepts: multiples of 8 in this range. The upper end keeps the sums of the 1-bit scan in 16 bits.
pub const DIMENSIONS: std::ops::RangeInclusive<usize> = 64..=bower_kernels::scan::bits::MAX_DIMENSION;

/// The seed of every rotation. A part of the format: another seed needs another format version.
const ROTATION_SEED: u64 = 0x0b0e_4b14_d000_0001;

/// The version of the format: manifest, segments, rotation and quantisation. Any change of these needs a new one.
const FORMAT: u32 = 2;

/// Segments of at least this many rows have 1-bit codes. Below it an int8 scan takes .1 ms or less. A part of the format.
const CODED: u32 = 10_000;

/// Segments of at least this many rows store their codes in the order of clusters. A part of the format.
pub const CLUSTERED: u32 = 200_000;

/// Vectors of one dimension. A row is its int8 values and their scale to coordinates.
#[derive(Debug)]
pub struct VectorRows {
    dimension: usize,
    pub(super) rotation: Rotation,
    pub(super) isa: Isa,
    /// Whether the pages for the first search were prefetched.
    pub(super) warmed: AtomicBool,
}

impl VectorRows {
    /// Creates the format; fails with [`Error::Invalid`] for a dimension outside [`DIMENSIONS`].
    pub fn new(dimension: usize) -> Result<Self> {
        check_dimension(dimension)?;
        let rotation = Rotation::new(dimension, ROTATION_SEED);
        Ok(Self { dimension, rotation, isa: Isa::best(), warmed: AtomicBool::new(false) })
    }

    /// Returns the length of the centre's section in bytes.
    fn centre(&self) -> usize {
        (self.dimension * size_of::<f32>()).next_multiple_of(64)
    }
}

impl SegmentFormat for VectorRows {
    const FORMAT: u32 = FORMAT;
    const MAGIC: [u8; 8] = *b"BOWERVEC";
    const INDEX: &'static str = "vector index";
    const ROWS: &'static str = "vectors";
    const ROW: &'static str = "vector";

    type Fresh = Vec<f32>;
    type Number = f32;

    fn of(dimension: usize) -> Result<Self, String> {
        Self::new(dimension).map_err(|error| error.to_string())
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn layout(&self, rows: u32, _size: u32) -> SectionOffsets {
        let (count, in_footer) = (rows as usize, [self.dimension as u32, rows]);
        let bytes = count * bytes::stride(self.dimension);
        if rows < CODED {
            return SectionOffsets::new::<Self>(rows, bytes, 0, in_footer);
        }
        let blocks = count.div_ceil(bits::BLOCK) * bits::block_len(self.dimension);
        let clusters: usize =
            if rows < CLUSTERED { 0 } else { clusters::sections(count, self.dimension).iter().sum() };
        // Of a coded segment only candidates are read.
        SectionOffsets::new::<Self>(rows, bytes, self.centre() + clusters + blocks, in_footer).sparse()
    }

    fn size(scales: &[f32]) -> u32 {
        scales.len() as u32
    }

    fn span(scales: &[f32], bytes: usize, positions: Range<usize>) -> Range<usize> {
        let stride = bytes / scales.len();
        positions.start * stride..positions.end * stride
    }

    fn write(&self, row: RowId, vector: &Vec<f32>, draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        if vector.len() != self.dimension {
            let reason = format!("has {} dimensions instead of {}", vector.len(), self.dimension);
            return Err(Self::refused(row, reason));
        }
        let mut bytes = vec![0; bytes::stride(self.dimension)];
        let scale = quantise(vector, &mut bytes);
        draft.push(row, scale, &bytes)
    }

    fn copy(&self, row: RowId, scale: f32, bytes: &[u8], draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        draft.push(row, scale, bytes)
    }

    /// Writes the centre and the codes around it, if the segment is large enough.
    fn finish(&self, draft: &mut SegmentWriter<'_, Self>) -> Result<()> {
        let (scales, file) = (&draft.numbers, &mut draft.file);
        if scales.len() < CODED as usize {
            return Ok(());
        }
        let mut centre = self.mean(scales, file)?;
        self.rotation.apply(self.isa, &mut centre);
        file.put(bytemuck::cast_slice(&centre))?;
        file.pad()?;
        if scales.len() < CLUSTERED as usize {
            return self.put_blocks(scales, file, &centre);
        }
        let clustering = self.gather(scales, file)?;
        let Clustering { centroids, factors, starts, order } = &clustering;
        let sections = [
            centroids,
            bytemuck::cast_slice(factors),
            bytemuck::cast_slice(starts),
            bytemuck::cast_slice(order),
        ];
        for section in sections {
            file.put(section)?;
            file.pad()?;
        }
        self.put_clustered_blocks(scales, file, &centre, &clustering)
    }
}

impl VectorRows {
    /// Returns the mean of the vectors in an unfinished file.
    fn mean(&self, scales: &[f32], file: &mut SegmentFile<'_>) -> Result<Vec<f32>> {
        let mut rows = self.read_back(file)?;
        let mut total = vec![0f64; self.dimension];
        let mut vector = vec![0f32; self.dimension];
        for scales in scales.chunks(bits::BLOCK) {
            for (row, scale) in rows.next(scales.len())?.zip(scales) {
                restore(row, *scale, &mut vector);
                for (total, value) in total.iter_mut().zip(&vector) {
                    *total += f64::from(*value);
                }
            }
        }
        Ok(total.iter().map(|total| (total / scales.len() as f64) as f32).collect())
    }

    /// Appends the codes of the vectors in an unfinished file to it.
    fn put_blocks(&self, scales: &[f32], file: &mut SegmentFile<'_>, centre: &[f32]) -> Result<()> {
        let mut rows = self.read_back(file)?;
        let mut coder = Coder::new(&self.rotation, self.isa, centre);
        let mut block = vec![0; bits::block_len(self.dimension)];
        for scales in scales.chunks(bits::BLOCK) {
            bits::clear(&mut block);
            for (place, (row, scale)) in rows.next(scales.len())?.zip(scales).enumerate() {
                coder.write(row, *scale, centre, &mut block, place);
            }
            file.put(&block)?;
        }
        Ok(())
    }

    /// Returns the clusters of the vectors in an unfinished file.
    fn gather(&self, scales: &[f32], file: &mut SegmentFile<'_>) -> Result<Clustering> {
        let stride = bytes::stride(self.dimension);
        let rows = file.map()?;
        let (mut sample, mut sample_scales) = (Vec::new(), Vec::new());
        for at in clusters::sample(scales.len()) {
            sample.extend_from_slice(&rows.bytes()[at * stride..][..stride]);
            sample_scales.push(scales[at]);
        }
        let assigner = Assigner::train(self.isa, self.dimension, scales.len(), &sample, &sample_scales);
        let mut gathering = Gathering::new(assigner);
        for (row, scale) in rows.bytes().chunks_exact(stride).zip(scales) {
            gathering.add(row, *scale);
        }
        Ok(gathering.finish())
    }

    /// Appends the codes of the vectors in an unfinished file to it, cluster by cluster, each around its cluster's centre.
    fn put_clustered_blocks(
        &self,
        scales: &[f32],
        file: &mut SegmentFile<'_>,
        centre: &[f32],
        clustering: &Clustering,
    ) -> Result<()> {
        let stride = bytes::stride(self.dimension);
        let rows = file.map()?;
        let mut coder = Coder::new(&self.rotation, self.isa, centre);
        let (mut block, mut places) = (vec![0; bits::block_len(self.dimension)], 0);
        bits::clear(&mut block);
        let mut around = vec![0.0; self.dimension];
        for cluster in 0..clustering.factors.len() {
            clustering.centre(cluster, &mut around);
            self.rotation.apply(self.isa, &mut around);
            for &position in clustering.rows(cluster) {
                let at = position as usize;
                coder.write(&rows.bytes()[at * stride..][..stride], scales[at], &around, &mut block, places);
                places += 1;
                if places == bits::BLOCK {
                    file.put(&block)?;
                    bits::clear(&mut block);
                    places = 0;
                }
            }
        }
        if places > 0 { file.put(&block) } else { Ok(()) }
    }

    fn read_back(&self, file: &mut SegmentFile<'_>) -> Result<ReadBack> {
        let stride = bytes::stride(self.dimension);
        let (reader, path) = (file.reopen()?, file.path().to_path_buf());
        Ok(ReadBack { reader, path, stride, rows: vec![0; bits::BLOCK * stride] })
    }
}

/// Checks a dimension against the bounds of this format.
pub(crate) fn check_dimension(dimension: usize) -> Result<()> {
    if DIMENSIONS.contains(&dimension) && dimension.is_multiple_of(8) {
        Ok(())
    } else {
        Err(Error::invalid(
            format!("vector dimension {dimension}"),
            format!("use a multiple of 8 from {} to {}", DIMENSIONS.start(), DIMENSIONS.end()),
        ))
    }
}

/// The int8 rows of an unfinished file from its start, read at most a block at a time.
struct ReadBack {
    reader: File,
    path: PathBuf,
    stride: usize,
    rows: Vec<u8>,
}

impl ReadBack {
    fn next(&mut self, count: usize) -> Result<ChunksExact<'_, u8>> {
        let rows = &mut self.rows[..count * self.stride];
        self.reader.read_exact(rows).map_err(|error| Error::index_file("read", &self.path, error))?;
        Ok(rows.chunks_exact(self.stride))
    }
}

/// An opened segment of vectors.
pub type VectorSegment = generation::Segment<VectorRows>;

impl VectorSegment {
    /// Whether there are 1-bit codes.
    pub fn is_coded(&self) -> bool {
        self.rows() >= CODED as usize
    }

    /// Returns one scale per row.
    pub fn scales(&self) -> &[f32] {
        self.numbers()
    }

    /// Returns the rotated mean and the blocks of codes; only if there are codes.
    pub fn codes(&self, format: &VectorRows) -> (&[f32], &[u8]) {
        self.check_more(self.more());
        let (centre, rest) = self.centre(format);
        assert!(!self.is_clustered(), "codes in the order of clusters");
        (centre, rest)
    }

    /// Whether the codes are in the order of clusters.
    pub fn is_clustered(&self) -> bool {
        self.rows() >= CLUSTERED as usize
    }

    /// Returns the rotated mean, the clusters and the blocks of codes in their order; only if there are clusters. Parts
    /// of the order and the blocks must be verified by `check_more` before they are read.
    pub fn clusters(&self, format: &VectorRows) -> (&[f32], Clusters<'_>, &[u8]) {
        let (centre, rest) = self.centre(format);
        let (clusters, blocks) = Clusters::view(rest, self.rows(), format.dimension);
        let more = self.more();
        let order = bytemuck::cast_slice::<u32, u8>(clusters.order);
        self.check_more(&more[..order.as_ptr().addr() - more.as_ptr().addr()]);
        (centre, clusters, blocks)
    }

    /// Returns the int8 rows of the segment, and verifies those at some positions, which will be read.
    pub fn rows_at(&self, positions: &[u32]) -> &[u8] {
        let stride = self.bytes_len() / self.rows();
        for position in positions {
            self.bytes(*position as usize * stride..(*position as usize + 1) * stride);
        }
        self.bytes(0..0)
    }

    fn centre(&self, format: &VectorRows) -> (&[f32], &[u8]) {
        assert!(self.is_coded(), "a segment without codes has no centre");
        let (centre, rest) = self.more().split_at(format.centre());
        (&bytemuck::cast_slice(centre)[..format.dimension], rest)
    }
}
