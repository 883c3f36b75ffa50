//! Counts, from PTX text alone, the instructions that a warp or a block executes together, and atomics.
//!
//! The compiler treats most of these as ordinary code that it may copy into the arms of a branch, where a diverging
//! warp hangs or computes nonsense. Counts that differ from what the source says show such a copy (or an unrolled loop).

use crate::{Error, ptx};

/// How many instructions of each collective kind stand in a kernel's code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInstructions {
    /// The kernel's name.
    pub name: String,
    /// `bar` and `barrier` of a block: sync, arrive, red.
    pub block_barriers: usize,
    /// `barrier.cluster`.
    pub cluster_barriers: usize,
    /// `bar.warp.sync`.
    pub warp_barriers: usize,
    /// `shfl`.
    pub shuffles: usize,
    /// `vote` and `elect`.
    pub votes: usize,
    /// `match`.
    pub matches: usize,
    /// `redux`.
    pub reductions: usize,
    /// `mma`, `wmma.mma`, `wgmma.mma_async`.
    pub matrix_multiplies: usize,
    /// `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`.
    pub matrix_moves: usize,
    /// `cp.async` in all its forms that copy (not its commits and waits).
    pub async_copies: usize,
    /// `mbarrier`.
    pub mbarriers: usize,
    /// `atom` and `red`.
    pub atomics: usize,
}

impl KernelInstructions {
    fn count(&mut self, opcode: &str) {
        let mut parts = opcode.split('.');
        let (first, second) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let counter = match (first, second) {
            ("bar", "warp") => &mut self.warp_barriers,
            ("barrier", "cluster") => &mut self.cluster_barriers,
            ("bar" | "barrier", _) => &mut self.block_barriers,
            ("shfl", _) => &mut self.shuffles,
            ("vote" | "elect", _) => &mut self.votes,
            ("match", _) => &mut self.matches,
            ("redux", _) => &mut self.reductions,
            ("mma", _) | ("wmma", "mma") | ("wgmma", "mma_async") => &mut self.matrix_multiplies,
            ("ldmatrix" | "stmatrix", _) | ("wmma", "load" | "store") => &mut self.matrix_moves,
            ("cp", "async")
                if !opcode.contains("_group") && !opcode.contains(".wait") && !opcode.contains(".mbarrier.arrive") =>
            {
                &mut self.async_copies
            }
            ("mbarrier", _) => &mut self.mbarriers,
            ("atom" | "red", _) => &mut self.atomics,
            _ => return,
        };
        *counter += 1;
    }
}

/// Counts the collective and atomic instructions of every kernel, in the order of the text.
///
/// Instructions written as inline assembly count like those that the compiler chose. A loop's body counts once for
/// every copy of it in the text, not for every time that it runs.
///
/// # Errors
/// [`Error::NotInlined`] if the module has functions other than kernels, whose instructions would be counted nowhere;
/// [`Error::Ptx`] if the text is not PTX.
pub fn instruction_counts(ptx: &str) -> Result<Vec<KernelInstructions>, Error> {
    let code = ptx::without_comments(ptx);
    let functions = ptx::functions(&code)?;
    let called: Vec<_> = functions
        .iter()
        .filter(|f| !f.is_kernel)
        .map(|f| f.name.to_owned())
        .collect();
    if !called.is_empty() {
        return Err(Error::NotInlined { functions: called });
    }
    let mut counts = Vec::new();
    for function in functions {
        let mut kernel = KernelInstructions {
            name: function.name.to_owned(),
            ..Default::default()
        };
        for statement in code[function.body.unwrap_or_default()].split(';') {
            if let Some(opcode) = opcode(statement) {
                kernel.count(opcode);
            }
        }
        counts.push(kernel);
    }
    Ok(counts)
}

/// What a statement does: its first word behind braces, labels and a predicate.
fn opcode(statement: &str) -> Option<&str> {
    let mut rest = statement;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '{' || c == '}');
        let name = rest
            .find(|c: char| !(c.is_alphanumeric() || "_$%".contains(c)))
            .unwrap_or(rest.len());
        let behind = rest[name..].trim_start();
        if let Some(instruction) = behind.strip_prefix(':').filter(|_| !behind.starts_with("::")) {
            rest = instruction;
            continue;
        }
        let word = rest.split_whitespace().next()?;
        if !word.starts_with('@') {
            return Some(word);
        }
        rest = &rest[word.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "
.visible .entry collect(.param .u64 p)
.maxntid 128, 1, 1
{
	.reg .pred 	%p<4>;
	// bar.sync 0;
	bar.sync 	0;
	@%p1 bra 	$L__BB0_2;
	barrier.sync.aligned 	1, 64;
$L__BB0_2:
	@!%p2 shfl.sync.idx.b32 	%r1, %r2, %r3, 31, -1;
	// begin inline asm
	{ .reg .pred q; vote.sync.ballot.b32 %r1, q, -1; }
	WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%r1], %r2;
	@P1 bra DONE; bra WAIT;
	DONE:
	mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, p, 1, 1, 0, 0;
	// end inline asm
	wgmma.fence.sync.aligned;
	wgmma.commit_group.sync.aligned;
	wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1}, [%r2];
	wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};
	ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];
	redux.sync.min.s32 %r1, %r2, -1; redux.sync.max.s32 %r1, %r2, -1;
	match.any.sync.b32 %r1, %r2, -1;
	bar.warp.sync 	-1;
	barrier.cluster.arrive;
	cp.async.cg.shared.global [%r1], [%rd1], 16;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
	cp.async.commit_group;
	cp.async.wait_group 0;
	cp.async.bulk.wait_group.read 0;
	cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
	atom.global.add.f32 %f1, [%rd1], %f2;
	red.shared.add.u32 [%r1], 1;
	ret;
}
.visible .entry plain() { ret; }
";

    #[test]
    fn every_kind_is_counted_wherever_it_stands() {
        let counts = instruction_counts(PTX).unwrap();
        let collect = KernelInstructions {
            name: "collect".into(),
            block_barriers: 2,
            cluster_barriers: 1,
            warp_barriers: 1,
            shuffles: 1,
            votes: 1,
            matches: 1,
            reductions: 2,
            matrix_multiplies: 3,
            matrix_moves: 2,
            async_copies: 2,
            mbarriers: 1,
            atomics: 2,
        };
        let plain = KernelInstructions {
            name: "plain".into(),
            ..Default::default()
        };
        assert_eq!(counts, [collect, plain]);
    }

    #[test]
    fn functions_that_were_not_inlined_are_named() {
        let ptx = format!("{PTX}.func helper() {{ bar.sync 0; ret; }}\n.extern .func memcpy(.param .b64 a);\n");
        let message = instruction_counts(&ptx).unwrap_err().to_string();
        assert!(
            message.starts_with("[helper, memcpy] are called, not inlined"),
            "{message}"
        );
    }
}
