//! In which form does each API get the result of a call?

use serde_json::{Value, json};
use toolspan_core::llm::{Answered, Api, openai, tool_result};
use toolspan_core::{Content, Observation};

const CALL: Answered<'_> = Answered {
    call_id: "call_1",
    name: "box__look",
};

fn seen() -> Observation {
    Observation::text_of("a picture").with_content(Content::image("AAAA", "image/png"))
}

fn result(api: Api, observation: &Observation) -> Value {
    tool_result(api, CALL, observation, 1_000)
}

#[test]
fn openai_takes_text_in_the_answer_and_images_in_a_message_behind_all_answers() {
    let message = result(Api::OpenAi, &seen());
    assert_eq!(
        message,
        json!({"role": "tool", "tool_call_id": "call_1", "content": "a picture\n[image image/png]"})
    );
    let images = openai::images("call_1", &seen()).expect("an image");
    assert_eq!(images["role"], "user");
    assert_eq!(
        images["content"][1]["image_url"]["url"],
        "data:image/png;base64,AAAA"
    );
    assert_eq!(openai::images("call_1", &Observation::text_of("a")), None);
}

#[test]
fn responses_takes_a_text_or_a_list_with_images() {
    let text = result(Api::Responses, &Observation::text_of("a"));
    assert_eq!(
        text,
        json!({"type": "function_call_output", "call_id": "call_1", "output": "a"})
    );
    let image = result(Api::Responses, &seen());
    let expected = json!([
        {"type": "input_text", "text": "a picture"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    ]);
    assert_eq!(image["output"], expected);
}

#[test]
fn anthropic_takes_images_of_four_kinds_and_text_alone_in_an_error() {
    let block = result(Api::Anthropic, &seen());
    assert_eq!(block["tool_use_id"], "call_1");
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    assert_eq!(
        block["content"][1],
        json!({"type": "image", "source": source})
    );
    assert_eq!(block.get("is_error"), None);
    let other = Observation::default().with_content(Content::image("AAAA", "image/tiff"));
    let named = json!([{"type": "text", "text": "[image image/tiff]"}]);
    assert_eq!(result(Api::Anthropic, &other)["content"], named);
    let mut failed = seen();
    failed.is_error = true;
    let block = result(Api::Anthropic, &failed);
    assert_eq!(block["is_error"], true);
    let texts = json!([{"type": "text", "text": "a picture"}, {"type": "text", "text": "[image image/png]"}]);
    assert_eq!(block["content"], texts);
}

#[test]
fn gemini_takes_the_name_of_the_tool_and_images_as_inline_data() {
    for api in [Api::Gemini, Api::GeminiOpenApi] {
        let part = result(api, &seen());
        let response = &part["functionResponse"];
        assert_eq!(response["name"], "box__look");
        assert_eq!(response["id"], "call_1");
        assert_eq!(response["response"], json!({"output": "a picture"}));
        assert_eq!(
            response["parts"],
            json!([{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}])
        );
    }
    let failed = Observation::error_of("no such file");
    let part = result(Api::Gemini, &failed);
    assert_eq!(
        part["functionResponse"]["response"],
        json!({"error": "no such file"})
    );
}

#[test]
fn mcp_takes_the_observation_as_it_is() {
    assert_eq!(result(Api::Mcp, &seen()), seen().to_mcp());
}

#[test]
fn a_failure_is_told_to_every_model_and_a_long_text_is_bounded() {
    let mut failed = Observation::error_of("x".repeat(5_000));
    failed.is_error = true;
    for api in [Api::OpenAi, Api::Responses, Api::Anthropic, Api::Gemini] {
        let text = result(api, &failed).to_string();
        assert!(text.contains("error"), "{api:?}");
        assert!(text.len() < 1_300, "{api:?}: {}", text.len());
    }
}

#[test]
fn a_result_answers_the_call_of_each_api_and_one_whose_arguments_cannot_be_read() {
    for (call, id) in [
        (
            json!({"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{"}}),
            "c1",
        ),
        (
            json!({"type": "function_call", "id": "fc", "call_id": "c2", "name": "a", "arguments": "{}"}),
            "c2",
        ),
        (
            json!({"type": "tool_use", "id": "t1", "name": "a", "input": {}}),
            "t1",
        ),
        (
            json!({"functionCall": {"id": "g1", "name": "a", "args": {}}}),
            "g1",
        ),
        (json!({"functionCall": {"name": "a"}}), ""),
        (json!({"name": "a", "arguments": {"id": "of the tool"}}), ""),
    ] {
        let expected = Answered {
            call_id: id,
            name: "a",
        };
        assert_eq!(Answered::of(&call), expected, "{call}");
    }
    let nothing = Answered {
        call_id: "",
        name: "",
    };
    assert_eq!(Answered::of(&json!("no call")), nothing);
}
