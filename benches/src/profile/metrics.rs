//! The counters that are asked for, by the profiler's names.

/// Time of a launch.
pub(super) const TIME: &str = "gpu__time_duration.sum";
/// Of loads to registers.
pub(super) const BYTES_USED_PER_SECTOR: &str = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
/// Of asynchronous copies to shared memory.
pub(super) const COPIED_BYTES_USED_PER_SECTOR: &str =
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ldgsts.ratio";
/// Sectors and requests of loads to registers; a request is a warp's instruction. The cache's own counters of loads have some
/// of the copies among them.
pub(super) const READ: [&str; 2] = [
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "smsp__sass_inst_executed_op_global_ld.sum",
];
/// Sectors and requests of asynchronous copies.
pub(super) const COPIED: [&str; 2] = [
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
];
pub(super) const DRAM_BYTES: [&str; 2] = ["dram__bytes_read.sum", "dram__bytes_write.sum"];
pub(super) const L2_BYTES: &str = "lts__t_bytes.sum";
pub(super) const L1_HITS: &str = "l1tex__t_sector_hit_rate.pct";
pub(super) const L2_HITS: &str = "lts__t_sector_hit_rate.pct";
pub(super) const ISSUE_SLOTS: &str = "smsp__issue_active.avg.pct_of_peak_sustained_active";
pub(super) const WARPS: &str = "sm__warps_active.avg.pct_of_peak_sustained_active";
/// The first that a device has.
pub(super) const TENSOR_PIPE: [&str; 2] = [
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
];

/// Instructions of single and double precision, by operations each.
pub(super) const SCALAR: [(&str, f64); 6] = [
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2.0),
    ("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2.0),
];

/// Operations of matrix instructions of a warp. The counters without `op_hmma` leave them out on an H200.
pub(super) const TENSOR: [&str; 2] = [
    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum",
    "sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32.sum",
];

/// Peaks: what a unit does in a cycle, and its cycles a second.
pub(super) const DRAM_PEAK: [&str; 2] = ["dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second"];
pub(super) const L2_PEAK: [&str; 2] = ["lts__t_bytes.sum.peak_sustained", "lts__cycles_elapsed.avg.per_second"];
pub(super) const FMA_PEAK: [&str; 2] = [
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
    "sm__cycles_elapsed.avg.per_second",
];
pub(super) const TENSOR_PEAK: [&str; 2] = [
    "sm__ops_path_tensor_op_hmma_src_fp16_dst_fp32.sum.peak_sustained",
    "sm__cycles_elapsed.avg.per_second",
];

/// Why a warp does not issue; `selected` is a warp that does.
const STALLS: [&str; 19] = [
    "barrier",
    "branch_resolve",
    "dispatch_stall",
    "drain",
    "gmma",
    "imc_miss",
    "lg_throttle",
    "long_scoreboard",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "misc",
    "no_instruction",
    "not_selected",
    "selected",
    "short_scoreboard",
    "sleeping",
    "tex_throttle",
    "wait",
];

/// Reasons and their counters.
pub(super) fn stalls() -> impl Iterator<Item = (&'static str, String)> {
    let metric = |reason| format!("smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio");
    STALLS.into_iter().map(move |reason| (reason, metric(reason)))
}

/// All counters.
pub(super) fn all() -> Vec<String> {
    let mut names: Vec<String> = [
        TIME,
        BYTES_USED_PER_SECTOR,
        COPIED_BYTES_USED_PER_SECTOR,
        L2_BYTES,
        L1_HITS,
        L2_HITS,
        ISSUE_SLOTS,
        WARPS,
    ]
    .into_iter()
    .chain(READ)
    .chain(COPIED)
    .chain(DRAM_BYTES)
    .chain(TENSOR_PIPE)
    .chain(SCALAR.map(|(name, _)| name))
    .chain(TENSOR)
    .chain(DRAM_PEAK)
    .chain(L2_PEAK)
    .chain(FMA_PEAK)
    .chain(TENSOR_PEAK)
    .map(str::to_owned)
    .chain(stalls().map(|(_, metric)| metric))
    .collect();
    names.sort_unstable();
    names.dedup();
    names
}
