//go:build sdk

package google

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/orbench/orbench/internal/dialect/dialecttest"
	"github.com/orbench/orbench/model"
)

// TestAgreesWithSDK asks one server through this package and through Google's own
// SDK: both must send the same request and read the same from the reply.
func TestAgreesWithSDK(t *testing.T) {
	t.Parallel()
	r := dialecttest.Question("gemini-x")
	config := &genai.GenerateContentConfig{
		SystemInstruction: &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{Text: r.Messages[0].Content}}},
		Temperature:       genai.Ptr(float32(*r.Params.Temperature)), MaxOutputTokens: 1000, Seed: genai.Ptr(int32(*r.Params.Seed)),
		ResponseMIMEType: "application/json",
	}
	if err := json.Unmarshal(r.Params.Schema, &config.ResponseJsonSchema); err != nil {
		t.Fatal(err)
	}
	for _, category := range []genai.HarmCategory{
		genai.HarmCategoryHarassment, genai.HarmCategoryHateSpeech, genai.HarmCategorySexuallyExplicit, genai.HarmCategoryDangerousContent,
	} {
		config.SafetySettings = append(config.SafetySettings, &genai.SafetySetting{Category: category, Threshold: genai.HarmBlockThresholdBlockNone})
	}
	contents := []*genai.Content{
		genai.NewContentFromText(r.Messages[1].Content, genai.RoleUser), genai.NewContentFromText(r.Messages[2].Content, genai.RoleModel),
		genai.NewContentFromText(r.Messages[3].Content, genai.RoleUser),
	}

	url, same := dialecttest.Compared(t, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"Use kill -9 \ud83d\ude42 \"now\"."}]},"finishReason":"SAFETY","index":0}],
		"modelVersion":"gemini-x-001","responseId":"id-9","usageMetadata":{"promptTokenCount":41,"cachedContentTokenCount":8,"candidatesTokenCount":7,"thoughtsTokenCount":5}}`, "X-Goog-Api-Key", "Content-Type")

	ours, err := New(ClientConfig{BaseURL: url, Key: "k"}).Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: "k", HTTPOptions: genai.HTTPOptions{BaseURL: url},
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := client.Models.GenerateContent(t.Context(), r.Model, contents, config)
	if err != nil {
		t.Fatal(err)
	}
	same()
	parts, u := theirs.Candidates[0].Content.Parts, theirs.UsageMetadata
	want := model.Response{
		Text: parts[1].Text, Thinking: parts[0].Text, Model: theirs.ModelVersion, ID: theirs.ResponseID, Finish: model.Blocked,
		Block: &model.Block{Kind: model.OutputFilter, Detail: string(theirs.Candidates[0].FinishReason)},
		Usage: model.Usage{
			Input: int(u.PromptTokenCount), Cached: int(u.CachedContentTokenCount),
			Output: int(u.CandidatesTokenCount + u.ThoughtsTokenCount), Reasoning: int(u.ThoughtsTokenCount),
		},
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("the SDK's reading -, this package's +:\n%s", diff)
	}
}

// TestWordsOfSDK holds the words for a reply's end to the SDK's.
func TestWordsOfSDK(t *testing.T) {
	t.Parallel()
	for reason, want := range map[genai.FinishReason]model.Finish{
		genai.FinishReasonStop: model.Stop, genai.FinishReasonMaxTokens: model.Length, genai.FinishReasonContinuation: model.Length,
		genai.FinishReasonSafety: model.Blocked, genai.FinishReasonRecitation: model.Blocked, genai.FinishReasonBlocklist: model.Blocked,
		genai.FinishReasonProhibitedContent: model.Blocked, genai.FinishReasonSPII: model.Blocked, genai.FinishReasonImageSafety: model.Blocked,
		genai.FinishReasonImageProhibitedContent: model.Blocked, genai.FinishReasonImageRecitation: model.Blocked,
		genai.FinishReasonOther: model.OtherFinish, genai.FinishReasonLanguage: model.OtherFinish,
	} {
		resp, err := decode([]byte(`{"candidates":[{"finishReason":"` + string(reason) + `"}]}`))
		if err != nil || resp.Finish != want {
			t.Errorf("%s gives %s, %v, want %s", reason, resp.Finish, err, want)
		}
	}
}
