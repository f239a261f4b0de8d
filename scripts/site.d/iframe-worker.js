// Search runs in a Worker, which browsers refuse to pages that are opened as files. There a hidden frame does its
// work.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      this.receive = (event) => {
        if (event.source !== inside) return;
        this.dispatchEvent(new MessageEvent("message", {data: event.data}));
        if (this.onmessage) this.onmessage(event);
      };
      addEventListener("message", this.receive);
      // A worker's two global functions; importScripts waits here, and the worker awaits it.
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", {data, source: inside});
        dispatchEvent(event);
      };
      inside.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
      const load = (next) => new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = next;
        script.onload = resolve;
        script.onerror = reject;
        inside.document.body.appendChild(script);
      });
      this.ready = load(String(url));
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})));
    }
    terminate() {
      removeEventListener("message", this.receive);
      this.frame.remove();
    }
  }
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
