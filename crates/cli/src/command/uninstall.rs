//! `rolewright uninstall`: the manager goes, and leaves or takes back what it gave.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use rolewright_controller::connect::Client;
use rolewright_controller::{lease, load, once};
use rolewright_plan::engine::{Category, Outcome};
use rolewright_plan::kind::{LEASE, Reports};
use rolewright_plan::op::{self, Phase};
use rolewright_plan::rbac::CLUSTER_ROLE;
use rolewright_plan::uninstall::{self, Access};
use rolewright_plan::workload::DEPLOYMENT;
use rolewright_plan::{Kind, Live, Name, ObjectRef, Op, Plan, Snapshot};

use crate::cluster::ClusterArgs;
use crate::modules::ModuleArgs;
use crate::output::{self, NO, QUIET};

/// By then Kubernetes' controllers have done what they were about to do.
const MOMENT: Duration = Duration::from_secs(1);

/// By then whoever makes roles anew does so on purpose.
const PATIENCE: Duration = Duration::from_secs(30);

/// What goes with the manager.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// What becomes of the access that the manager gave
    #[arg(long, value_enum)]
    access: AccessArg,
    /// Only print what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Go on though a manager still runs
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    cluster: ClusterArgs,
    #[command(flatten)]
    modules: ModuleArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AccessArg {
    /// It stays as it is; nobody looks after it
    Keep,
    /// It goes
    Revoke,
}

pub(crate) fn run(args: &UninstallArgs, out: &mut impl Write) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(uninstall(args, out))
}

async fn uninstall(args: &UninstallArgs, out: &mut impl Write) -> Result<()> {
    let client = args.cluster.connect().await?;
    let access = match args.access {
        AccessArg::Keep => Access::Keep,
        AccessArg::Revoke => Access::Revoke,
    };
    let snapshot = read(&client, args).await?;
    let mut plan = uninstall::uninstall(&snapshot, access);
    leave_to_peer(&snapshot, args, &mut plan);
    leave_to_holders(&client, args, &mut plan).await?;
    settle_leases(&client, &mut plan, args.force || args.dry_run).await?;
    let kept = if access == Access::Keep { "; the access that it gave stays" } else { "" };
    if plan.ops.is_empty() {
        output::note(format!("there is nothing of the manager on this cluster{kept}"));
        return Ok(());
    }
    if args.dry_run {
        print(&plan.ops, out)?;
        return Ok(());
    }
    let mut outcomes = once::write(client.clone(), &plan).await;
    outcomes.extend(until_all_stay_away(&client, &plan).await?);
    let failures: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    let done = |op: &&Op| !failures.iter().any(|failure| failure.object == op.object);
    let written: Vec<Op> = plan.ops.iter().filter(done).cloned().collect();
    print(&written, out)?;
    for failure in &failures {
        writeln!(out, "{NO}refused{NO:#} {}: {}", failure.object, failure.message)?;
    }
    if !failures.is_empty() {
        bail!("{} of {} writes were refused; hint: run it again with more rights", failures.len(), plan.ops.len());
    }
    output::note(format!("the manager is gone{kept}; its namespace is left, for it may hold what is not ours"));
    Ok(())
}

/// Kubernetes' aggregation controller may have been gathering for a role when it was deleted, and then makes it anew; with
/// many roles more than once. Returns what was refused.
async fn until_all_stay_away(client: &Client, plan: &Plan) -> Result<Vec<Outcome>> {
    let is_role = |op: &&Op| *op.object.kind == CLUSTER_ROLE && op.phase == Phase::Drop;
    let deleted: BTreeSet<&Name> = plan.ops.iter().filter(is_role).map(|op| &op.object.name).collect();
    if deleted.is_empty() {
        return Ok(Vec::new());
    }
    let start = Instant::now();
    loop {
        tokio::time::sleep(MOMENT).await;
        let back = revived(client, &deleted).await?;
        let Some(first) = back.first() else { return Ok(Vec::new()) };
        if start.elapsed() > PATIENCE {
            bail!(
                "{} of the roles come back whenever they are deleted, as `{}` does; hint: find out who makes them, and run \
                 it again",
                back.len(),
                first.object.name
            );
        }
        let outcomes = once::write(client.clone(), &Plan { ops: back, ..Plan::default() }).await;
        let is_refused =
            |outcome: &Outcome| outcome.as_ref().is_err_and(|failure| failure.category == Category::Forbidden);
        if outcomes.iter().any(is_refused) {
            return Ok(outcomes);
        }
    }
}

/// The deletions of those roles that are there again.
async fn revived(client: &Client, deleted: &BTreeSet<&Name>) -> Result<Vec<Op>> {
    let mut snapshot = Snapshot::default();
    for event in load::load(client, [&CLUSTER_ROLE]).await.context("cannot read the cluster")?.events {
        snapshot.take(event);
    }
    let is_back = |live: &&Live| live.meta.revived && deleted.contains(&live.meta.name);
    let delete = |live: &Live| Op {
        phase: Phase::Drop,
        object: ObjectRef::cluster(&CLUSTER_ROLE, live.meta.name.clone()),
        write: op::Write::Delete { uid: live.meta.uid.clone() },
        because: "it was made anew while it went".to_owned(),
        repairs: false,
    };
    Ok(snapshot.all(&CLUSTER_ROLE).filter(is_back).map(delete).collect())
}

/// Everything in which something of ours may be.
async fn read(client: &Client, args: &UninstallArgs) -> Result<Snapshot> {
    let reported = args.modules.build().into_iter().flat_map(|module| module.watches());
    let reported = reported.map(|watch| watch.kind).filter(|kind| kind.reports != Reports::Never);
    // Deployments tell who else is at work.
    let mut kinds: Vec<&'static Kind> = uninstall::KINDS.into_iter().chain(reported).chain([&DEPLOYMENT]).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let loaded = load::load(client, kinds).await.context("cannot read the cluster")?;
    if let Some(missing) = loaded.missing.first() {
        bail!("{missing}; hint: whoever uninstalls must see everything that may be ours");
    }
    let mut snapshot = Snapshot::default();
    for event in loaded.events {
        snapshot.take(event);
    }
    Ok(snapshot)
}

/// The finalizer of syncs is Config Sync's own: where its manager runs, it is the one that lets them go.
fn leave_to_peer(snapshot: &Snapshot, args: &UninstallArgs, plan: &mut Plan) {
    let is_release = |op: &Op| matches!(op.write, op::Write::Release { .. });
    let count = plan.ops.iter().filter(|op| is_release(op)).count();
    let modules = args.modules.build();
    let Some(peer) = modules.iter().filter(|module| module.name() == "sync").find_map(|module| module.peer(snapshot))
    else {
        return;
    };
    if count > 0 {
        plan.ops.retain(|op| !is_release(op));
        output::note(format!("{} runs, so the finalizers of syncs are left to it: {count}", peer.object));
    }
}

/// What the controller keeps that has taken its job back is its own, whoever wrote it first.
async fn leave_to_holders(client: &Client, args: &UninstallArgs, plan: &mut Plan) -> Result<()> {
    for module in args.modules.build() {
        let Some(shared) = module.lease() else { continue };
        let holder = lease::holder(client, &shared.namespace, &shared.name).await?;
        let Some(holder) = holder.filter(|holder| holder.is_alive && !holder.is_ours) else { continue };
        let before = plan.ops.len();
        plan.ops.retain(|op| !module.is_peers(&op.object));
        if plan.ops.len() < before {
            let count = before - plan.ops.len();
            output::note(format!("`{}` runs, so what it keeps itself is left to it: {count}", holder.identity));
        }
    }
    Ok(())
}

/// A manager that still runs would make everything anew. A lease that somebody else has come to hold is theirs.
async fn settle_leases(client: &Client, plan: &mut Plan, force: bool) -> Result<()> {
    let mut theirs = Vec::new();
    for op in plan.ops.iter().filter(|op| *op.object.kind == LEASE) {
        let (namespace, name) = (&op.object.namespace, &op.object.name);
        let Some(holder) = lease::holder(client, namespace, name).await? else { continue };
        match () {
            () if !holder.is_ours => theirs.push(op.object.clone()),
            () if holder.is_alive && !force => bail!(
                "a manager still runs: `{}` holds the lease {namespace}/{name}; hint: stop it first, for it would make \
                 everything anew, or say --force",
                holder.identity
            ),
            () => {}
        }
    }
    plan.ops.retain(|op| !theirs.contains(&op.object));
    Ok(())
}

fn print(ops: &[Op], out: &mut impl Write) -> Result<()> {
    for op in ops {
        // What we said of somebody else's object goes; the object stays.
        let verb = if matches!(op.write, op::Write::Report { .. }) { "clear" } else { op.write.verb() };
        writeln!(out, "{verb} {}  {QUIET}{}{QUIET:#}", op.object, op.because)?;
    }
    Ok(())
}
