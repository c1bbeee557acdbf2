// Prints builtins.gen.ts: how the API server decodes and prints the fields of the built-in kinds, read from
// its own Go types (names, order, omitempty, pointers, patch tags) and its OpenAPI document (defaults, list types).
//
//	cd tools/control-plane && go run ../../packages/testing/src/apiserver-double/schemas/main.go > builtins.gen.ts
package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// roots are the kinds of the double, by group/version/kind.
var roots = map[string]any{
	"/v1/Pod": corev1.Pod{}, "/v1/Service": corev1.Service{}, "/v1/ConfigMap": corev1.ConfigMap{},
	"/v1/Secret": corev1.Secret{}, "/v1/Namespace": corev1.Namespace{}, "/v1/Node": corev1.Node{},
	"/v1/PersistentVolumeClaim": corev1.PersistentVolumeClaim{}, "/v1/PersistentVolume": corev1.PersistentVolume{},
	"/v1/ServiceAccount": corev1.ServiceAccount{}, "/v1/Event": corev1.Event{}, "/v1/Endpoints": corev1.Endpoints{},
	"/v1/LimitRange": corev1.LimitRange{}, "/v1/ResourceQuota": corev1.ResourceQuota{},
	"/v1/PodTemplate": corev1.PodTemplate{}, "/v1/Binding": corev1.Binding{},
	"apps/v1/StatefulSet": appsv1.StatefulSet{}, "apps/v1/Deployment": appsv1.Deployment{},
	"apps/v1/DaemonSet": appsv1.DaemonSet{}, "apps/v1/ReplicaSet": appsv1.ReplicaSet{},
	"apps/v1/ControllerRevision": appsv1.ControllerRevision{},
	"batch/v1/Job":               batchv1.Job{}, "batch/v1/CronJob": batchv1.CronJob{},
	"coordination.k8s.io/v1/Lease": coordinationv1.Lease{}, "events.k8s.io/v1/Event": eventsv1.Event{},
	"policy/v1/PodDisruptionBudget": policyv1.PodDisruptionBudget{}, "policy/v1/Eviction": policyv1.Eviction{},
	"rbac.authorization.k8s.io/v1/Role": rbacv1.Role{}, "rbac.authorization.k8s.io/v1/RoleBinding": rbacv1.RoleBinding{},
	"rbac.authorization.k8s.io/v1/ClusterRole":                       rbacv1.ClusterRole{},
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding":                rbacv1.ClusterRoleBinding{},
	"storage.k8s.io/v1/StorageClass":                                 storagev1.StorageClass{},
	"networking.k8s.io/v1/Ingress":                                   networkingv1.Ingress{},
	"networking.k8s.io/v1/IngressClass":                              networkingv1.IngressClass{},
	"networking.k8s.io/v1/NetworkPolicy":                             networkingv1.NetworkPolicy{},
	"discovery.k8s.io/v1/EndpointSlice":                              discoveryv1.EndpointSlice{},
	"autoscaling/v1/Scale":                                           autoscalingv1.Scale{},
	"autoscaling/v2/HorizontalPodAutoscaler":                         autoscalingv2.HorizontalPodAutoscaler{},
	"scheduling.k8s.io/v1/PriorityClass":                             schedulingv1.PriorityClass{},
	"admissionregistration.k8s.io/v1/MutatingWebhookConfiguration":   admissionregistrationv1.MutatingWebhookConfiguration{},
	"admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": admissionregistrationv1.ValidatingWebhookConfiguration{},
	"apiextensions.k8s.io/v1/CustomResourceDefinition":               apiextensionsv1.CustomResourceDefinition{},
	"authentication.k8s.io/v1/TokenReview":                           authenticationv1.TokenReview{},
	"authentication.k8s.io/v1/SelfSubjectReview":                     authenticationv1.SelfSubjectReview{},
	"authentication.k8s.io/v1/TokenRequest":                          authenticationv1.TokenRequest{},
	"authorization.k8s.io/v1/SubjectAccessReview":                    authorizationv1.SubjectAccessReview{},
	"authorization.k8s.io/v1/LocalSubjectAccessReview":               authorizationv1.LocalSubjectAccessReview{},
	"authorization.k8s.io/v1/SelfSubjectAccessReview":                authorizationv1.SelfSubjectAccessReview{},
	"authorization.k8s.io/v1/SelfSubjectRulesReview":                 authorizationv1.SelfSubjectRulesReview{},
	"meta.k8s.io/v1/DeleteOptions":                                   metav1.DeleteOptions{},
}

// opaque types have a JSON form of their own.
var opaque = map[string]string{
	"Quantity": "quantity", "IntOrString": "intOrString", "Time": "time", "MicroTime": "microTime", "Duration": "string",
	"RawExtension": "any", "FieldsV1": "any", "JSON": "any", "JSONSchemaProps": "any", "ExtraValue": "strings",
}

type node struct {
	Type     string          `json:"type,omitempty"`
	Ref      string          `json:"ref,omitempty"`
	Items    *node           `json:"items,omitempty"`
	Values   *node           `json:"values,omitempty"`
	Omit     bool            `json:"omit,omitempty"`
	OmitZero bool            `json:"omitZero,omitempty"`
	Pointer  bool            `json:"pointer,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
	List     string          `json:"list,omitempty"`
	Keys     []string        `json:"keys,omitempty"`
	Map      string          `json:"map,omitempty"`
	Patch    string          `json:"patch,omitempty"`
	MergeKey string          `json:"mergeKey,omitempty"`
	Required bool            `json:"required,omitempty"`
}

type object struct {
	Name   string
	Fields []field
	Map    string
}

type field struct {
	Name string
	node
}

var types = map[string]map[string]*node{}
var atomic = map[string]string{}
var definitions map[string]common.OpenAPIDefinition

func typeName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return parts[len(parts)-2] + "." + parts[len(parts)-1] + "." + t.Name()
}

func schemaOf(t reflect.Type) *spec.Schema {
	if named, ok := reflect.New(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		if definition, found := definitions[named.OpenAPIModelName()]; found {
			return &definition.Schema
		}
	}
	if definition, found := definitions[t.PkgPath()+"."+t.Name()]; found {
		return &definition.Schema
	}
	return nil
}

func describe(t reflect.Type) *node {
	if t.Kind() == reflect.Ptr {
		n := describe(t.Elem())
		n.Pointer = true
		return n
	}
	if kind, ok := opaque[t.Name()]; ok {
		return &node{Type: kind}
	}
	switch t.Kind() {
	case reflect.String:
		return &node{Type: "string"}
	case reflect.Bool:
		return &node{Type: "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Int16:
		return &node{Type: "integer"}
	case reflect.Float64:
		return &node{Type: "number"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &node{Type: "bytes"}
		}
		return &node{Type: "array", Items: describe(t.Elem())}
	case reflect.Map:
		return &node{Type: "map", Values: describe(t.Elem())}
	case reflect.Struct:
		if strings.HasSuffix(t.Name(), "OrBool") || strings.HasSuffix(t.Name(), "OrArray") || strings.HasSuffix(t.Name(), "OrStringArray") {
			return &node{Type: "any"}
		}
		collect(t)
		return &node{Type: "object", Ref: typeName(t)}
	}
	panic("unsupported " + t.String())
}

func extension(s *spec.Schema, name string) any {
	if s == nil {
		return nil
	}
	return s.Extensions[name]
}

func collect(t reflect.Type) {
	name := typeName(t)
	if _, done := types[name]; done {
		return
	}
	fields := map[string]*node{}
	types[name] = fields
	s := schemaOf(t)
	if kind, ok := extension(s, "x-kubernetes-map-type").(string); ok {
		atomic[name] = kind
	}
	add(t, s, fields)
}

func add(t reflect.Type, s *spec.Schema, fields map[string]*node) {
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		tag := strings.Split(f.Tag.Get("json"), ",")
		inline := tag[0] == "" && f.Anonymous
		if tag[0] == "-" {
			continue
		}
		if inline {
			inner := f.Type
			add(inner, schemaOr(inner, s), fields)
			continue
		}
		n := describe(f.Type)
		for _, option := range tag[1:] {
			switch option {
			case "omitempty":
				n.Omit = true
			case "omitzero":
				n.OmitZero = true
			}
		}
		n.Patch = f.Tag.Get("patchStrategy")
		n.MergeKey = f.Tag.Get("patchMergeKey")
		if s != nil {
			for _, required := range s.Required {
				if required == tag[0] {
					n.Required = true
				}
			}
			if p, ok := s.Properties[tag[0]]; ok {
				if kind, ok := p.Extensions["x-kubernetes-list-type"].(string); ok {
					n.List = kind
				}
				if kind, ok := p.Extensions["x-kubernetes-map-type"].(string); ok {
					n.Map = kind
				}
				if keys, ok := p.Extensions["x-kubernetes-list-map-keys"].([]interface{}); ok {
					for _, key := range keys {
						n.Keys = append(n.Keys, key.(string))
					}
				}
				if p.Default != nil {
					raw, _ := json.Marshal(p.Default)
					// {} and zero values follow from the Go type
					if text := string(raw); text != "{}" && text != `""` && text != "0" && text != "false" {
						n.Default = raw
					}
				}
			}
		}
		fields[tag[0]] = n
	}
}

func schemaOr(t reflect.Type, fallback *spec.Schema) *spec.Schema {
	if s := schemaOf(t); s != nil {
		return s
	}
	return fallback
}

func main() {
	definitions = openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/" + path) })
	kinds := map[string]string{}
	for kind, value := range roots {
		t := reflect.TypeOf(value)
		collect(t)
		kinds[kind] = typeName(t)
	}
	var printed strings.Builder
	encoder := json.NewEncoder(&printed)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"kinds": kinds, "types": types, "mapTypes": atomic}); err != nil {
		panic(err)
	}
	fmt.Println("/** Printed by main.go beside this file; regenerate for a new Kubernetes version, never edit. */")
	fmt.Printf("export const BUILTINS_JSON: string = `%s`;\n", strings.TrimSpace(printed.String()))
}
