//! `rolewright up`: the embedded server with the manager on it, and an example to try both with.

mod change;
mod commands;
mod detach;
mod example;
pub(crate) mod instance;
mod kubeconfig;
mod message;
mod shoulder;
mod summary;
mod view;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use rolewright_controller::Settings;
use rolewright_controller::connect::Client;
use rolewright_controller::run::{Leases, Process, run_observed};
use rolewright_core::User;
use rolewright_plan::Module;
use rolewright_plan::rights::Identity;
use rolewright_server::store::{Data, StoreError, Sync};
use rolewright_server::{Controllers, ListenError, Listening, Server, StartError, admin};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal as hear};
use tokio::sync::{oneshot, watch};

use self::commands::Shell;
use self::example::Begun;
use self::instance::Instance;
use self::shoulder::Shoulder;
use self::summary::Summary;
use self::view::{Output, View};
use crate::modules::ModuleArgs;
use crate::{output, signal};

/// The port of Kubernetes' API.
const USUAL_PORT: u16 = 6443;

/// Signals within it count once.
const MOMENT: Duration = Duration::from_millis(500);

/// How the sandbox is started.
#[derive(Clone, Debug, Args)]
pub(crate) struct UpArgs {
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = USUAL_PORT)]
    port: u16,
    /// Where to keep the cluster; without it, the cluster ends with the process
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Begin with an empty cluster instead of the example
    #[arg(long)]
    empty: bool,
    /// A kubeconfig to add our context to; its other contexts, and which is current, stay as they are [default:
    /// admin.kubeconfig in --data, or else rolewright-PORT.kubeconfig in the folder for temporary files]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Return when it is ready and let it run; `rolewright down` ends it
    #[arg(long)]
    detach: bool,
    /// How it is printed
    #[arg(short = 'o', long, value_enum, default_value_t = Output::Human)]
    output: Output,
    /// Print one line when it is ready, and nothing of what happens
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Where what happens is written, by whoever detached us
    #[arg(long, hide = true, value_name = "FILE", conflicts_with = "detach")]
    detached: Option<PathBuf>,
}

pub(crate) fn run(args: &UpArgs) -> Result<()> {
    if args.detach {
        return detach::run(args);
    }
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(up(args, began))
}

async fn up(args: &UpArgs, began: Instant) -> Result<()> {
    let settings = rolewright_server::Settings {
        // The manager does it, where everybody can see it.
        controllers: Controllers { aggregation: false, ..Controllers::default() },
        data: args.data.clone().map(|folder| Data { folder, sync: Sync::Disk }),
        ..rolewright_server::Settings::default()
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let listening = Listening::start(address, settings).await.map_err(|error| explained(error, args))?;
    let instance = known(args, listening.address.port())?;
    let access = Access::give(args, &listening)?;
    let sandbox = Sandbox { args, server: listening.server.clone(), url: listening.url(), access, began };
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    let done = sandbox.manage(instance.clone()).await;
    // Whoever still asks is answered until the manager has ended.
    let _ = end.send(());
    let _ = serving.await;
    sandbox.access.take();
    done?;
    match sandbox.server.failure() {
        Some(why) => bail!("cannot store: {why}; hint: make room and start again, every acknowledged write is there"),
        None => Ok(()),
    }
}

/// Makes this process known, for `down` to find it.
fn known(args: &UpArgs, port: u16) -> Result<Option<Arc<Instance>>> {
    match instance::folder().and_then(|folder| Instance::claim(&folder, port)) {
        Ok(instance) => Ok(Some(Arc::new(instance))),
        // Somebody waits to hear from us there.
        Err(error) if args.detached.is_some() => Err(error),
        Err(error) => {
            output::note(format!("`rolewright down` will not find this process: {error:#}"));
            Ok(None)
        }
    }
}

/// What runs.
struct Sandbox<'a> {
    args: &'a UpArgs,
    server: Server,
    url: String,
    access: Access,
    began: Instant,
}

impl Sandbox<'_> {
    /// Plants what there should be at first, and runs the manager until somebody wants it to end.
    async fn manage(&self, instance: Option<Arc<Instance>>) -> Result<()> {
        let modules = ModuleArgs::of_a_sandbox()?.build();
        let identity = Identity::default();
        let begun = self.plant(&modules, &identity).await?;
        let (leave, left) = watch::channel(false);
        let about = self.about();
        let ready = move |summary: &Summary| {
            let told = instance.map_or(Ok(()), |instance| instance.tell(&told(about, summary)));
            if let Err(error) = told {
                output::note(format!("`rolewright down` will not find this process: {error:#}"));
            }
        };
        let gone = move || {
            leave.send_replace(true);
        };
        let view = View::start(self.args.output, self.args.quiet, self.began, ready, gone);
        let names: Vec<&'static str> = modules.iter().map(|module| module.name()).collect();
        let shoulder = Shoulder::new(view.messages.clone(), self.summary(begun), self.began, names);
        let done = self.run(modules, shoulder, &identity, left).await;
        match view.end() {
            // Whoever reads us has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            shown => shown.context("cannot print")?,
        }
        done
    }

    async fn plant(&self, modules: &[Box<dyn Module>], identity: &Identity) -> Result<Begun> {
        let wanted = if self.args.empty { Begun::Nothing } else { Begun::Example };
        let client = Client::new(self.server.router_as(admin()), "default");
        let begun = example::plant(&client, modules, identity, wanted).await?;
        if begun != wanted {
            let word = if begun == Begun::Example { "has the example" } else { "was begun empty" };
            output::note(format!("the cluster {word}, and stays as it is; hint: another --data DIR begins anew"));
        }
        Ok(begun)
    }

    async fn run(
        &self,
        modules: Vec<Box<dyn Module>>,
        shoulder: Shoulder,
        identity: &Identity,
        left: watch::Receiver<bool>,
    ) -> Result<()> {
        let account = format!("system:serviceaccount:{}:{}", identity.namespace, identity.name);
        let groups = ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{}", identity.namespace)];
        let account = User::authenticated(account.as_str(), groups.iter().map(String::as_str));
        let client = Client::new(self.server.router_as(account), identity.namespace.as_str());
        let process = Process {
            manager: Settings { discovery: Duration::from_millis(200), ..Settings::default() },
            leases: Leases::None,
            listen: None,
            instance: "rolewright-up".to_owned(),
            grace: Duration::from_secs(20),
        };
        let mut first = Some(Alive { server: self.server.clone(), left, detached: self.args.detached.is_some() });
        let signal = move || end_wanted(first.take());
        Ok(run_observed(client, modules, process, Box::new(shoulder), signal).await?)
    }

    fn summary(&self, begun: Begun) -> Summary {
        Summary {
            url: self.url.clone(),
            data: self.args.data.clone(),
            has_example: begun == Begun::Example,
            shell: self.access.shell.clone(),
            modules: Vec::new(),
            kept: 0,
            written: 0,
            ready_in: Duration::ZERO,
        }
    }

    /// What others may know of this process.
    fn about(&self) -> Value {
        json!({
            "pid": std::process::id(), "url": self.url, "kubeconfig": self.access.shell.kubeconfig,
            "data": self.args.data, "log": self.args.detached,
        })
    }
}

/// What keeps the sandbox running, beside nobody wanting it to end.
struct Alive {
    server: Server,
    /// Whether nobody reads what is printed any more.
    left: watch::Receiver<bool>,
    /// Whether it outlives its terminal.
    detached: bool,
}

/// Done when the sandbox should end; the second time, when its end should not be waited for.
async fn end_wanted(alive: Option<Alive>) {
    let Some(Alive { server, mut left, detached }) = alive else {
        // Whoever ends a group of processes tells some of them twice.
        tokio::time::sleep(MOMENT).await;
        return signal::ended().await;
    };
    let hung_up = async {
        match hear(SignalKind::hangup()) {
            Ok(mut hangup) if !detached => drop(hangup.recv().await),
            // As long as this is heard, it ends nothing.
            kept => {
                std::future::pending::<()>().await;
                drop(kept);
            }
        }
    };
    tokio::select! {
        () = signal::ended() => {}
        _ = server.failed() => {}
        _ = left.wait_for(|left| *left) => {}
        () = hung_up => {}
    }
}

fn told(mut about: Value, summary: &Summary) -> Value {
    if let Some(fields) = about.as_object_mut() {
        fields.insert("ready".to_owned(), summary.to_json());
        fields.insert("page".to_owned(), json!(summary.page()));
        fields.insert("line".to_owned(), json!(summary.line()));
    }
    about
}

/// How to get in: a kubeconfig, and what becomes of it in the end.
struct Access {
    shell: Shell,
    after: After,
}

/// What becomes of the kubeconfig in the end.
enum After {
    /// The cluster comes back, and it is good again.
    Stays,
    /// It was made for a cluster that is gone.
    Goes,
    /// Our context in somebody's kubeconfig goes.
    Leaves { ours: Box<Value>, name: String },
}

impl Access {
    fn give(args: &UpArgs, listening: &Listening) -> Result<Self> {
        let port = listening.address.port();
        if let Some(file) = &args.kubeconfig {
            let name = if port == USUAL_PORT { "rolewright".to_owned() } else { format!("rolewright-{port}") };
            let ours = listening.kubeconfig(&name);
            let is_current = kubeconfig::merge(file, &ours, &name)?;
            let shell = Shell::here(file.clone(), (!is_current).then(|| name.clone()));
            let after = if args.data.is_some() { After::Stays } else { After::Leaves { ours: Box::new(ours), name } };
            return Ok(Self { shell, after });
        }
        let (file, after) = match &args.data {
            Some(data) => (data.join("admin.kubeconfig"), After::Stays),
            None => (std::env::temp_dir().join(format!("rolewright-{port}.kubeconfig")), After::Goes),
        };
        listening.write_kubeconfig(&file).with_context(|| {
            format!("cannot write the kubeconfig `{}`; hint: choose another with --kubeconfig", file.display())
        })?;
        Ok(Self { shell: Shell::here(file, None), after })
    }

    /// Leaves nothing behind that leads nowhere.
    fn take(&self) {
        let file = &self.shell.kubeconfig;
        let done = match &self.after {
            After::Stays => Ok(()),
            After::Goes => std::fs::remove_file(file).context("cannot remove the kubeconfig"),
            After::Leaves { ours, name } => kubeconfig::remove(file, ours, name),
        };
        if let Err(error) = done {
            output::note(format!("`{}` is left as it is: {error:#}", file.display()));
        }
    }
}

/// An error with the way out.
fn explained(error: ListenError, args: &UpArgs) -> anyhow::Error {
    match &error {
        ListenError::Bind { source, address } if source.kind() == ErrorKind::AddrInUse => {
            let running = instance::folder().and_then(|folder| instance::running(&folder)).unwrap_or_default();
            let other = running.into_iter().find(|running| running.port == address.port());
            let hint = match other {
                Some(other) => format!(
                    "by another `rolewright up` (process {}); hint: `rolewright down --port {}` ends it, --port 0 takes a \
                     free port",
                    other.pid, other.port
                ),
                None => "by somebody else; hint: --port 0 takes a free one".to_owned(),
            };
            anyhow!("the port {} is in use {hint}", address.port())
        }
        ListenError::Start(StartError::Store(StoreError::Busy { path })) => {
            let running = instance::folder().and_then(|folder| instance::running(&folder)).unwrap_or_default();
            let same = |other: &Value| {
                let other = other.get("data").and_then(Value::as_str).map(Path::new);
                other.and_then(|other| other.canonicalize().ok()) == path.canonicalize().ok()
            };
            match running.iter().find(|running| same(&running.record)) {
                Some(other) => anyhow!(
                    "the data folder `{}` is in use by another `rolewright up` (process {}); hint: `rolewright down \
                     --port {}` ends it, or use another folder",
                    path.display(),
                    other.pid,
                    other.port
                ),
                None => error.into(),
            }
        }
        ListenError::Start(StartError::Store(StoreError::Folder { .. })) => {
            let folder = args.data.as_deref().unwrap_or(Path::new("")).display().to_string();
            anyhow::Error::from(error).context(format!(
                "nothing can be kept in `{folder}`; hint: --data DIR with a folder that you may write to, or none to keep \
                 nothing"
            ))
        }
        _ => error.into(),
    }
}
