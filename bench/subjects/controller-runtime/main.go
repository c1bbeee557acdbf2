// Command controller-runtime runs the Echo controller of core.md section 7 on controller-runtime, to be measured
// beside the same controller on quartet. 16 workers, no client-side limit of requests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

var echoVersion = schema.GroupVersion{Group: "test.quartet.io", Version: "v1"}

// EchoSpec is the part of an Echo's spec that the controller reads.
type EchoSpec struct {
	Text string `json:"text"`
}

// EchoStatus is what the controller reports.
type EchoStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Echo asks for a ConfigMap that repeats its text.
type Echo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              EchoSpec   `json:"spec"`
	Status            EchoStatus `json:"status,omitempty"`
}

// EchoList is a list of Echos.
type EchoList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Echo `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (e *Echo) DeepCopyObject() runtime.Object {
	out := *e
	e.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), e.Status.Conditions...)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (l *EchoList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]Echo, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Echo)
	}
	return &out
}

type reconciler struct {
	client.Client
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var echo Echo
	if err := r.Get(ctx, request.NamespacedName, &echo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if echo.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	if err := r.ensureConfigMap(ctx, &echo); err != nil {
		return ctrl.Result{}, err
	}
	base := echo.DeepCopyObject().(*Echo)
	echo.Status.ObservedGeneration = echo.Generation
	changed := meta.SetStatusCondition(&echo.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Echoed", ObservedGeneration: echo.Generation,
	})
	if !changed && base.Status.ObservedGeneration == echo.Generation {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Patch(ctx, &echo, client.MergeFrom(base))
}

// ensureConfigMap writes by server-side apply, as the other subject does.
func (r *reconciler) ensureConfigMap(ctx context.Context, echo *Echo) error {
	key := client.ObjectKey{Namespace: echo.Namespace, Name: echo.Name + "-out"}
	var live corev1.ConfigMap
	err := r.Get(ctx, key, &live)
	if client.IgnoreNotFound(err) != nil || (err == nil && live.Data["text"] == echo.Spec.Text) {
		return err
	}
	owner := applymeta.OwnerReference().
		WithAPIVersion(echoVersion.String()).WithKind("Echo").WithName(echo.Name).WithUID(echo.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	want := applycore.ConfigMap(key.Name, key.Namespace).
		WithOwnerReferences(owner).
		WithData(map[string]string{"text": echo.Spec.Text})
	return r.Apply(ctx, want, client.FieldOwner("controller-runtime-bench"), client.ForceOwnership)
}

func run() error {
	kubeconfig := flag.String("server-config", "", "kubeconfig of the API server")
	namespace := flag.String("namespace", "", "namespace to work in, empty for all")
	leaderElection := flag.Bool("leader-elect", false, "take the lease controller-runtime-bench in namespace default")
	pods := flag.Bool("cache-pods", false, "also cache all pods, to measure memory")
	metrics := flag.String("metrics", "0", "address of /metrics")
	health := flag.String("health", "0", "address of /readyz, which tells when all caches are filled")
	flag.Parse()
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))

	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	config.UserAgent = "controller-runtime-bench"
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(echoVersion, &Echo{}, &EchoList{})
	metav1.AddToGroupVersion(scheme, echoVersion)
	options := ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: *metrics},
		HealthProbeBindAddress:        *health,
		LeaderElection:                *leaderElection,
		LeaderElectionID:              "controller-runtime-bench",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	}
	if *namespace != "" {
		options.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{*namespace: {}}}
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if *pods {
		if _, err := manager.GetCache().GetInformer(context.Background(), &corev1.Pod{}); err != nil {
			return err
		}
	}
	err = manager.AddReadyzCheck("caches", func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Millisecond)
		defer cancel()
		if !manager.GetCache().WaitForCacheSync(ctx) {
			return errors.New("not filled yet")
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).
		For(&Echo{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 16}).
		Complete(&reconciler{Client: manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
