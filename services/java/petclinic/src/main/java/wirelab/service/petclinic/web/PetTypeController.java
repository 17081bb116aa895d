package wirelab.service.petclinic.web;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import wirelab.service.petclinic.ClinicService;
import wirelab.service.petclinic.message.Messages;

/** Operations on rows of kind PetType. */
@RestController
@RequestMapping(Answers.PREFIX + "pettypes")
final class PetTypeController {
    private final ClinicService clinic;
    private final Messages messages;
    private final Answers answers;

    PetTypeController(ClinicService clinic, Messages messages, Answers answers) {
        this.clinic = clinic;
        this.messages = messages;
        this.answers = answers;
    }

    @GetMapping
    ResponseEntity<Object> listPetTypes() {
        return answers.answerFound("ListPetTypes", () -> clinic.listPetTypes(answers.encodeWith(messages::petTypes)));
    }

    @PostMapping
    ResponseEntity<Object> addPetType(@RequestBody(required = false) byte[] body) {
        return answers.answerCreated("AddPetType", "pettypes", body,
                request -> clinic.addPetType(messages.petType(request), row -> answers.make(row.id, row, messages::reply)));
    }

    @GetMapping("/{id}")
    ResponseEntity<Object> getPetType(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerFound("GetPetType", () -> clinic.getPetType(row, answers.encodeWith(messages::reply)));
    }

    @PutMapping("/{id}")
    ResponseEntity<Object> updatePetType(@PathVariable String id, @RequestBody(required = false) byte[] body) {
        int row = Answers.id(id);
        return answers.answerChanged("UpdatePetType", body, request -> clinic.updatePetType(row, messages.petType(request)));
    }

    @DeleteMapping("/{id}")
    ResponseEntity<Object> deletePetType(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerDeleted("DeletePetType", () -> clinic.deletePetType(row));
    }
}
