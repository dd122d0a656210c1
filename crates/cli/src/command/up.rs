//! `rolewright up`: the embedded server with the manager on it, and an example to try both with.

mod access;
mod change;
mod commands;
mod detach;
mod ending;
mod example;
pub(crate) mod instance;
mod kubeconfig;
mod message;
mod refusal;
mod shoulder;
mod summary;
mod view;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use rolewright_controller::Settings;
use rolewright_controller::connect::Client;
use rolewright_controller::run::{Leases, Process, run_observed};
use rolewright_core::User;
use rolewright_plan::Module;
use rolewright_plan::rights::Identity;
use rolewright_server::store::{Data, Sync};
use rolewright_server::{Controllers, Listening, Server, admin};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use self::access::Access;
use self::ending::{Ending, Wishes};
use self::example::{Begun, Scene};
use self::instance::Instance;
use self::shoulder::Shoulder;
use self::summary::Summary;
use self::view::{Output, View};
use crate::modules::ModuleArgs;
use crate::output;

/// The port of Kubernetes' API.
const USUAL_PORT: u16 = 6443;

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
    /// A kubeconfig to add our context to; all else in it, comments too, stays as it is, unless its lists are in one
    /// line, as in JSON: then it is written anew until we end [default: admin.kubeconfig in --data, or else rolewright-PORT.kubeconfig in the folder for temporary files]
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
    let wishes = Wishes::hear(args.detached.is_some()).context("cannot hear signals")?;
    let settings = rolewright_server::Settings {
        // The manager does it, where everybody can see it.
        controllers: Controllers { aggregation: false, ..Controllers::default() },
        data: args.data.clone().map(|folder| Data { folder, sync: Sync::Disk }),
        ..rolewright_server::Settings::default()
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let listener = Listening::bind(address).await.map_err(refusal::explained)?;
    // At once: who finds the port taken should find by whom.
    let instance = known(args, listener.local_addr().context("cannot listen")?.port())?;
    let listening = Listening::on(listener, settings).map_err(refusal::explained)?;
    let access = Access::give(args, &listening)?;
    let sandbox = Sandbox { args, server: listening.server.clone(), url: listening.url(), access, began };
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(listening.run(async {
        let _ = ended.await;
    }));
    let done = sandbox.manage(instance.clone(), wishes).await;
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
    match instance::folder().and_then(|folder| Instance::claim(&folder, port, &about(args))) {
        Ok(instance) => Ok(Some(Arc::new(instance))),
        // Somebody waits to hear from us there.
        Err(error) if args.detached.is_some() => Err(error),
        Err(error) => {
            output::note(format!("`rolewright down` will not find this process: {}", output::in_words(&error)));
            Ok(None)
        }
    }
}

/// What others may know of this process from its first moment.
fn about(args: &UpArgs) -> Value {
    json!({ "pid": std::process::id(), "data": args.whole_data(), "log": args.detached })
}

impl UpArgs {
    /// The folder for the cluster, for processes that work in another one.
    fn whole_data(&self) -> Option<PathBuf> {
        let data = self.data.as_ref()?;
        Some(data.canonicalize().or_else(|_| std::path::absolute(data)).unwrap_or_else(|_| data.clone()))
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
    async fn manage(&self, instance: Option<Arc<Instance>>, wishes: Wishes) -> Result<()> {
        let modules = ModuleArgs::of_a_sandbox()?.build();
        let identity = Identity::default();
        let begun = tokio::select! {
            begun = self.plant(&modules, &identity) => begun?,
            () = wishes.clone().first() => return Ok(()),
        };
        let (leave, left) = watch::channel(false);
        let about = self.about();
        let ready = move |summary: &Summary| {
            let told = instance.map_or(Ok(()), |instance| instance.tell(&told(about, summary)));
            if let Err(error) = told {
                output::note(format!("`rolewright down` will not find this process: {}", output::in_words(&error)));
            }
        };
        let gone = move || {
            leave.send_replace(true);
        };
        let view = View::start(self.args.output, self.args.quiet, self.began, ready, gone);
        let names: Vec<&'static str> = modules.iter().map(|module| module.name()).collect();
        let shoulder = Shoulder::new(view.messages.clone(), self.summary(begun), self.began, names);
        let done = self.run(modules, shoulder, &identity, wishes.of(self.server.clone(), left)).await;
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
        mut ending: Ending,
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
        let signal = move || ending.next();
        Ok(run_observed(client, modules, process, Box::new(shoulder), signal).await?)
    }

    fn summary(&self, begun: Begun) -> Summary {
        Summary {
            url: self.url.clone(),
            data: self.args.data.clone(),
            has_example: begun == Begun::Example,
            // Known when everything is there.
            scene: Scene::Other,
            shell: self.access.shell.clone(),
            modules: Vec::new(),
            kept: 0,
            written: 0,
            ready_in: Duration::ZERO,
        }
    }

    /// What others may know of this process when it is ready.
    fn about(&self) -> Value {
        let mut about = about(self.args);
        if let Some(fields) = about.as_object_mut() {
            fields.insert("url".to_owned(), json!(self.url));
            fields.insert("kubeconfig".to_owned(), json!(self.access.shell.kubeconfig));
        }
        about
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
